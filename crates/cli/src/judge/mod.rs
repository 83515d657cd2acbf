//! Judges for `counterfoil check`: kept opinions, a program, a model.

mod arguments;
#[cfg(feature = "guard")]
mod model;
mod opinions;

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

pub(crate) use self::arguments::JudgeArguments;
use self::opinions::{Batch, Keeper};

/// The state of reading answers.
pub(crate) struct Judging {
    judge: Option<Box<dyn Judge>>,
    opinions: Keeper,
    batch: Option<Mutex<Batch>>,
    options: ReadingOptions,
    redactor: Redactor,
    /// The number of answers judged concurrently.
    concurrency: usize,
    /// The number of answers that may still be judged.
    room: AtomicUsize,
    tokens: AtomicU64,
    /// Opinions from joint questions that have not been used yet.
    fresh: Mutex<HashMap<Digest, Given>>,
}

/// The result for one answer.
enum Answered {
    Read(usize, Reading, Source),
    Unjudged(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Fresh,
    Kept,
}

impl Judging {
    /// Reads the answers that end a turn, and adds findings to those of the rules. Returns the
    /// messages that were read.
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
                        Source::Fresh => judged.asked += 1,
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

    /// Returns the reply to a question from another program.
    pub(crate) fn ask(&self, question: String) -> Result<String, String> {
        let judge = self.judge.as_ref().ok_or("no judge configured")?;
        Ok(judge.ask(&Prompt::again(question))?.text)
    }

    /// The number of tokens that the judge read and wrote, if it reports them.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    fn answer(&self, record: &Record<'_>, turn: usize) -> Option<Answered> {
        let source = Mutex::new(Source::Kept);
        let opinion = |case: &Case<'_>| {
            let (given, from) = self.opinion(case)?;
            if from == Source::Fresh
                && let Ok(mut source) = source.lock()
            {
                *source = from;
            }
            Ok(given)
        };
        let read = read(record.up_to(turn), &self.options, &opinion)?;
        let from = source.lock().map_or(Source::Fresh, |source| *source);
        Some(match read {
            Ok(reading) => Answered::Read(turn, reading, from),
            Err(reason) => Answered::Unjudged(reason),
        })
    }

    /// Asks about the answers of a session without an opinion, several per question if they fit.
    /// Any that fail are asked about individually later.
    fn ask_together(&self, record: &Record<'_>, turns: &[usize]) {
        let Some(judge) = self.judge.as_deref().filter(|_| self.batch.is_none()) else { return };
        let unknown =
            |case: &Case<'_>| self.opinions.about(digest(case), Some(judge.name())).is_none();
        let cases = turns
            .iter()
            .filter_map(|turn| case(record.up_to(*turn), &self.options).filter(unknown));
        let joints = Joint::join(cases.collect(), self.options.tokens());
        joints.par_iter().for_each(|joint| {
            if let Err(error) = self.ask_jointly(judge, joint) {
                tracing::info!(
                    %error,
                    "asking about several answers at once failed; asking about each separately"
                );
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

    /// Reserves part of the limit for `answers` answers.
    fn reserve(&self, answers: usize) -> Result<(), String> {
        let left = |room: usize| room.checked_sub(answers);
        let reserved = self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
        reserved.map(|_| ()).map_err(|_| "more answers than `judge.max_answers`".to_owned())
    }

    /// Returns the opinion about a case: a kept one, or else a new one, which is kept.
    fn opinion(&self, case: &Case<'_>) -> Result<(Given, Source), String> {
        let digest = digest(case);
        if let Some(given) = self.fresh.lock().ok().and_then(|mut fresh| fresh.remove(&digest)) {
            return Ok((given, Source::Fresh));
        }
        let name = self.judge.as_ref().map(|judge| judge.name());
        if let Some(kept) = self.opinions.about(digest, name) {
            let line = kept?;
            return Ok((Given { judge: line.model, opinion: line.opinion }, Source::Kept));
        }
        let random = random()?;
        if let Some(batch) = &self.batch {
            let mut batch = batch.lock().map_err(|_| "the batch file is broken".to_owned())?;
            batch.add(digest, &Prompt::new(case, &boundary(random)))?;
            return Err(
                "question written to the batch file; pass the replies with `--opinions`".into()
            );
        }
        let Some(judge) = &self.judge else {
            return Err("the opinions file has no opinion about this answer".to_owned());
        };
        self.reserve(1)?;
        let (given, tokens) = ask(judge.as_ref(), case, random)?;
        self.tokens.fetch_add(tokens, Ordering::Relaxed);
        self.opinions.keep(&OpinionLine::new(digest, &given.judge, given.opinion.clone()))?;
        Ok((given, Source::Fresh))
    }

    /// Creates a thread pool for judges, which mostly wait.
    pub(crate) fn pool(&self) -> anyhow::Result<rayon::ThreadPool> {
        let threads = self.concurrency.max(rayon::current_num_threads());
        Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?)
    }

    /// Why a judge that was to be asked read no answer at all, of which there were some.
    pub(crate) fn failed(&self, summary: &Summary) -> Option<String> {
        let judged = summary.judged.as_ref().filter(|judged| judged.asked + judged.kept == 0)?;
        let asks = self.judge.is_some() && self.batch.is_none();
        judged.unjudged.keys().next().filter(|_| asks).cloned()
    }

    /// Writes the batch file, and adds the tokens used to the summary.
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
    getrandom::fill(&mut random).map_err(|error| format!("cannot get random bytes: {error}"))?;
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

/// Returns the position of a finding in its message.
fn place(finding: &Finding) -> usize {
    match &finding.subject {
        counterfoil_model::Subject::Claim { span, .. } => span.start,
        counterfoil_model::Subject::Call(_) => 0,
    }
}
