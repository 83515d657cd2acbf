//! Who reads answers in `counterfoil check`: kept opinions, a program, a model.

mod arguments;
mod command;
#[cfg(feature = "guard")]
mod model;
mod opinions;
mod preset;

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use counterfoil_judge::{
    AnswerJudge, Case, Given, Joint, Judge, OpinionLine, Prompt, Reading, ReadingOptions, answers,
    ask, ask_jointly, boundary, case, digest, read,
};
use counterfoil_model::{Digest, Finding, Transcript};
use counterfoil_record::Record;
use counterfoil_redact::Redactor;
use counterfoil_report::{Judged, Summary};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

pub(crate) use self::arguments::{JudgeArguments, JudgeOptions};
use self::opinions::{Batch, Keeper};
#[cfg(feature = "guard")]
pub(crate) use self::preset::PROGRAMS;

/// Everything that is known about reading answers.
pub(crate) struct Judging {
    judge: Option<Box<dyn Judge>>,
    opinions: Keeper,
    batch: Option<Mutex<Batch>>,
    options: ReadingOptions,
    redactor: Redactor,
    /// How many answers are asked about at a time.
    concurrency: usize,
    /// How many answers may still be asked about.
    room: AtomicUsize,
    tokens: AtomicU64,
    /// Opinions about answers that were asked about together, until they are read.
    fresh: Mutex<HashMap<Digest, Given>>,
}

/// What became of one answer.
enum Answered {
    Read(usize, Reading, Source),
    Unjudged(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Asked,
    Kept,
}

impl Judging {
    /// Reads the answers that end a turn, and puts what is false in them to the findings of the rules.
    /// Says which messages were read.
    pub(crate) fn judge(
        &self,
        transcript: &Transcript,
        findings: &mut Vec<Finding>,
    ) -> (Judged, Vec<usize>) {
        let turns = answers(transcript);
        let (mut judged, mut read) = (Judged::default(), Vec::new());
        if turns.is_empty() {
            return (judged, read);
        }
        let record = Record::redacted(transcript, &|text| self.redactor.redact(text));
        self.ask_together(&record, &turns);
        let answered: Vec<Answered> =
            turns.par_iter().filter_map(|turn| self.answer(&record, *turn)).collect();
        for answer in answered {
            match answer {
                Answered::Unjudged(reason) => *judged.unjudged.entry(reason).or_default() += 1,
                Answered::Read(turn, reading, source) => {
                    match source {
                        Source::Asked => judged.asked += 1,
                        Source::Kept => judged.kept += 1,
                    }
                    judged.dropped += reading.dropped;
                    reading.join(turn, findings);
                    read.push(turn);
                }
            }
        }
        findings.sort_by_key(|finding| (finding.turn, place(finding)));
        (judged, read)
    }

    /// The reply to a question that another program made.
    pub(crate) fn ask(&self, question: String) -> Result<String, String> {
        let judge = self.judge.as_ref().ok_or("there is no judge")?;
        Ok(judge.ask(&Prompt::again(question))?.text)
    }

    /// How many tokens the judge read and wrote, as far as it says so.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    fn answer(&self, record: &Record<'_>, turn: usize) -> Option<Answered> {
        let source = Mutex::new(Source::Kept);
        let opinion = |case: &Case<'_>| {
            let (given, from) = self.opinion(case)?;
            if from == Source::Asked
                && let Ok(mut source) = source.lock()
            {
                *source = from;
            }
            Ok(given)
        };
        let read = read(record.up_to(turn), &self.options, &opinion)?;
        let from = source.lock().map_or(Source::Asked, |source| *source);
        Some(match read {
            Ok(reading) => Answered::Read(turn, reading, from),
            Err(reason) => Answered::Unjudged(reason),
        })
    }

    /// Asks about the answers of a session that have no opinion yet, several in one question where they
    /// fit. What cannot be asked about so is asked about alone later.
    fn ask_together(&self, record: &Record<'_>, turns: &[usize]) {
        let Some(judge) = self.judge.as_deref().filter(|_| self.batch.is_none()) else { return };
        let unknown =
            |case: &Case<'_>| self.opinions.about(digest(case), Some(judge.name())).is_none();
        let cases = turns
            .iter()
            .filter_map(|turn| case(record.up_to(*turn), &self.options).filter(unknown));
        let joints = Joint::of(cases.collect(), self.options.tokens());
        joints.par_iter().for_each(|joint| {
            if let Err(error) = self.ask_jointly(judge, joint) {
                tracing::info!(%error, "several answers could not be asked about at once");
            }
        });
    }

    fn ask_jointly(&self, judge: &dyn Judge, joint: &Joint<'_>) -> Result<(), String> {
        self.reserve(joint.cases().len())?;
        let (given, tokens) = ask_jointly(judge, joint, random()?).inspect_err(|_| {
            self.room.fetch_add(joint.cases().len(), Ordering::Relaxed);
        })?;
        self.tokens.fetch_add(tokens, Ordering::Relaxed);
        let mut fresh = self.fresh.lock().map_err(|_| "the opinions are lost".to_owned())?;
        for (case, given) in joint.cases().iter().zip(given) {
            let digest = digest(case);
            self.opinions.keep(&OpinionLine::new(digest, &given.judge, given.opinion.clone()))?;
            fresh.insert(digest, given);
        }
        Ok(())
    }

    /// Takes room for so many answers.
    fn reserve(&self, answers: usize) -> Result<(), String> {
        let left = |room: usize| room.checked_sub(answers);
        let reserved = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
        reserved.map(|_| ()).map_err(|_| "more answers than `judge.max_answers`".to_owned())
    }

    /// The opinion about a case: a kept one, else the judge's, which is kept.
    fn opinion(&self, case: &Case<'_>) -> Result<(Given, Source), String> {
        let digest = digest(case);
        if let Some(given) = self.fresh.lock().ok().and_then(|mut fresh| fresh.remove(&digest)) {
            return Ok((given, Source::Asked));
        }
        let name = self.judge.as_ref().map(|judge| judge.name());
        if let Some(kept) = self.opinions.about(digest, name) {
            let line = kept?;
            return Ok((Given { judge: line.model, opinion: line.opinion }, Source::Kept));
        }
        let random = random()?;
        if let Some(batch) = &self.batch {
            let mut batch = batch.lock().map_err(|_| "the batch file is broken".to_owned())?;
            batch.add(digest, &Prompt::of(case, &boundary(random)))?;
            return Err("asked in the batch file; read what comes back with `--opinions`".into());
        }
        let Some(judge) = &self.judge else {
            return Err("no opinion about it is in the file".to_owned());
        };
        self.reserve(1)?;
        let (given, tokens) = ask(judge.as_ref(), case, random)?;
        self.tokens.fetch_add(tokens, Ordering::Relaxed);
        self.opinions.keep(&OpinionLine::new(digest, &given.judge, given.opinion.clone()))?;
        Ok((given, Source::Asked))
    }

    /// Threads for judges: they wait more than they work.
    pub(crate) fn pool(&self) -> anyhow::Result<rayon::ThreadPool> {
        let threads = self.concurrency.max(rayon::current_num_threads());
        Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?)
    }

    /// Writes what is still in memory, and notes what it cost.
    pub(crate) fn finish(&self, summary: &mut Summary) -> anyhow::Result<()> {
        let judged = summary.judged.get_or_insert_default();
        judged.tokens = self.tokens();
        if let Some(batch) = &self.batch
            && let Ok(mut batch) = batch.lock()
        {
            batch.finish()?;
        }
        Ok(())
    }
}

fn random() -> Result<[u8; 12], String> {
    let mut random = [0; 12];
    getrandom::fill(&mut random).map_err(|error| format!("no random number: {error}"))?;
    Ok(random)
}

impl fmt::Debug for Judging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.judge.as_ref().map(|judge| judge.name());
        f.debug_struct("Judging").field("judge", &name).finish_non_exhaustive()
    }
}

impl AnswerJudge for Judging {
    fn read(&self, transcript: &Transcript, turn: usize) -> Result<Reading, String> {
        let record = Record::redacted(transcript, &|text| self.redactor.redact(text));
        match self.answer(&record, turn) {
            None => Ok(Reading::default()),
            Some(Answered::Unjudged(why)) => Err(why),
            Some(Answered::Read(_, reading, _)) => Ok(reading),
        }
    }
}

/// Where a finding stands in its message.
fn place(finding: &Finding) -> usize {
    match &finding.subject {
        counterfoil_model::Subject::Claim { span, .. } => span.start,
        counterfoil_model::Subject::Call(_) => 0,
    }
}
