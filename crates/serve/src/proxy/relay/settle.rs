//! What becomes of a whole answer: as it came, with what is wrong beneath it, or in other words.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use counterfoil_model::{Finding, Subject};
use counterfoil_providers::{Reply, Stop};
use hyper::body::Bytes;

use super::{Gone, Relay};
use crate::proxy::correct::Corrected;
use crate::proxy::exchange::{Became, Conclusion, Said};
use crate::proxy::judge::sentence_start;
use crate::proxy::notes;
use crate::proxy::options::ProxyMode;

/// While the model is asked again, a comment keeps the connection open so often.
const STILL_THERE: Duration = Duration::from_secs(10);

impl Relay {
    /// The whole answer is there.
    pub(super) async fn ended(&mut self, reply: Reply, became: &mut Became) -> Conclusion {
        became.usage = reply.usage;
        became.judged.clone_from(&reply.text);
        became.said = Said { text: reply.text.clone(), calls: reply.calls.clone() };
        let exchange = Arc::clone(&self.exchange);
        let holds = exchange.mode().holds();
        let limit = if holds { exchange.limit() } else { Some(exchange.settings.verify) };
        let concluded = self.keeping(exchange.conclude(&reply, "", limit)).await;
        let Ok(conclusion) = concluded else {
            became.what = "broken off";
            let unjudged = Some("its client left".to_owned());
            return Conclusion { unjudged, ..Conclusion::default() };
        };
        let bad = conclusion.bad(exchange.settings.least);
        let unjudged = conclusion.unjudged.clone().filter(|_| exchange.settings.withholds());
        let conclusion = if let Some(why) = unjudged {
            became.what = "not judged";
            became.withheld = true;
            became.said.text = self.text.get(..self.released).unwrap_or_default().to_owned();
            exchange.not_made(&conclusion.calls.passed).await;
            self.hold_unread(&why).await.ok();
            conclusion
        } else if bad.is_empty() && conclusion.calls.refused.is_empty() {
            became.what = conclusion.passed();
            self.pass(&reply, &conclusion).await.ok();
            conclusion
        } else if holds {
            self.hold(&reply, conclusion, &bad, became).await
        } else {
            became.what = "annotated";
            self.annotate(&reply, &conclusion, &bad).await.ok();
            conclusion
        };
        became.said.text.push_str(&self.own);
        conclusion
    }

    /// Nothing is wrong with it: it goes on as it came, without thoughts of ours.
    async fn pass(&mut self, reply: &Reply, conclusion: &Conclusion) -> Result<(), Gone> {
        let waited = self.exchange.mode().holds() || self.exchange.tools.is_some();
        if !conclusion.calls.stripped || !waited {
            let rest = std::mem::take(&mut self.frames).rest();
            return self.give_all(rest).await;
        }
        self.release_until(self.text.len()).await?;
        let calls = self.writer.calls(&conclusion.calls.passed, &reply.kept);
        self.write(calls).await?;
        let end = self.writer.end(reply.stop);
        self.write(end).await
    }

    /// What is wrong stands beneath it.
    async fn annotate(
        &mut self,
        reply: &Reply,
        conclusion: &Conclusion,
        bad: &[Finding],
    ) -> Result<(), Gone> {
        let refused = &conclusion.calls.refused;
        let told = notes::machine(&conclusion.findings, refused, conclusion.unjudged.as_deref());
        let comment = format!(": counterfoil {}\n\n", notes::one_line(&told));
        if self.exchange.asked.structured {
            self.write(comment).await?;
            return self.pass(reply, conclusion).await;
        }
        self.release_until(self.text.len()).await?;
        if self.exchange.tools.is_some() {
            let refused = conclusion.calls.refused.iter().map(|refused| refused.call.clone());
            let calls: Vec<_> = conclusion.calls.passed.iter().cloned().chain(refused).collect();
            let calls = self.writer.calls(&calls, &reply.kept);
            self.write(calls).await?;
        }
        self.words(&notes::footnotes(bad, refused)).await?;
        self.write(comment).await?;
        let end = self.writer.end(reply.stop);
        self.write(end).await
    }

    /// What is wrong with it does not go on as it is: the model is asked again.
    async fn hold(
        &mut self,
        reply: &Reply,
        conclusion: Conclusion,
        bad: &[Finding],
        became: &mut Became,
    ) -> Conclusion {
        let exchange = Arc::clone(&self.exchange);
        let cut = self.cut(bad);
        became.said.text = self.text.get(..cut).unwrap_or_default().to_owned();
        if self.release_until(cut).await.is_err() {
            became.what = "broken off";
            return conclusion;
        }
        let read = if exchange.asked.structured { String::new() } else { became.said.text.clone() };
        let again = self.keeping(exchange.corrected(reply, &conclusion, &read)).await;
        match again {
            Err(Gone) => became.what = "broken off",
            Ok(Ok(corrected)) => {
                became.what = "corrected";
                became.corrections = corrected.asked.times;
                became.usage += corrected.asked.usage;
                became.said.calls.clone_from(&corrected.conclusion.calls.passed);
                became.better = Some(corrected.conclusion.findings.clone());
                self.go_on(&corrected).await.ok();
            }
            Ok(Err(asked)) => {
                became.corrections = asked.times;
                became.usage += asked.usage;
                became.said.calls.clone_from(&conclusion.calls.passed);
                let blocks = exchange.mode() == ProxyMode::Block;
                became.what = if blocks { "held" } else { "annotated" };
                became.withheld = blocks;
                self.fail(reply, &conclusion, bad, blocks).await.ok();
            }
        }
        // What was held is what is to be recorded of it.
        conclusion
    }

    /// Where the words end that may go on: in front of the sentence with the first bad claim.
    fn cut(&self, bad: &[Finding]) -> usize {
        let start = |finding: &Finding| match &finding.subject {
            Subject::Claim { span, .. } => Some(sentence_start(&self.text, span.start)),
            Subject::Call(_) => None,
        };
        let first = bad.iter().filter_map(start).min().unwrap_or(self.text.len());
        if self.exchange.asked.structured { 0 } else { first.max(self.released) }
    }

    /// Passes on all events up to here; what one says of it that also says more, in words of ours.
    async fn release_until(&mut self, cut: usize) -> Result<(), Gone> {
        while let Some(front) = self.queue.front() {
            if front.last && !front.speaks {
                break;
            }
            if front.speaks && (front.end > cut || front.last) {
                break;
            }
            // What ends a part of which the rest is held ends it too early.
            if !front.speaks && front.end > cut {
                break;
            }
            self.give().await?;
        }
        let more = self.text.get(self.released..cut).unwrap_or_default().to_owned();
        if !more.is_empty() {
            self.released = cut;
            let written = self.writer.text(&more);
            self.write(written).await?;
        }
        Ok(())
    }

    /// The better answer, behind what the client has.
    async fn go_on(&mut self, corrected: &Corrected) -> Result<(), Gone> {
        let Corrected { reply, conclusion, .. } = corrected;
        // A model may begin from the beginning all the same.
        let read = self.text.get(..self.released).unwrap_or_default().trim();
        let text = reply.text.trim_start();
        let text = text.strip_prefix(read).filter(|_| !read.is_empty()).unwrap_or(text);
        let comment = format!(": counterfoil {{\"corrections\":{}}}\n\n", corrected.asked.times);
        self.write(comment).await?;
        let apart = self.released > 0 && !text.trim().is_empty();
        let text = format!("{}{}", if apart { "\n\n" } else { "" }, text.trim_start());
        self.words(&text).await?;
        let calls = self.writer.calls(&conclusion.calls.passed, &reply.kept);
        let end = self.writer.end(reply.stop);
        self.write(format!("{calls}{end}")).await
    }

    /// It did not get better.
    async fn fail(
        &mut self,
        reply: &Reply,
        conclusion: &Conclusion,
        bad: &[Finding],
        blocks: bool,
    ) -> Result<(), Gone> {
        let refused = &conclusion.calls.refused;
        let mut told = notes::machine(&conclusion.findings, refused, None);
        if blocks {
            notes::without_claims(&mut told);
        }
        self.write(format!(": counterfoil {}\n\n", notes::one_line(&told))).await?;
        let structured = self.exchange.asked.structured;
        let mut calls = conclusion.calls.passed.clone();
        if !blocks {
            let rest = self.text.get(self.released..).unwrap_or_default().to_owned();
            self.released = self.text.len();
            self.words(&rest).await?;
            if !structured {
                self.words(&notes::footnotes(bad, refused)).await?;
            }
            // What only does not fit, its client may refuse itself.
            let unfit = refused.iter().filter(|refused| !refused.denied);
            calls.extend(unfit.map(|refused| refused.call.clone()));
        } else if structured && !bad.is_empty() {
            let refusal = self.writer.refusal(&notes::notice(bad));
            self.write(refusal).await?;
        } else {
            let mut notice = if bad.is_empty() { String::new() } else { notes::notice(bad) };
            notice.push_str(&notes::no_calls(refused));
            self.words(&notice).await?;
        }
        let stop = match reply.stop {
            Stop::Calls if calls.is_empty() => Stop::End,
            stop => stop,
        };
        let calls = self.writer.calls(&calls, &reply.kept);
        let end = self.writer.end(stop);
        self.write(format!("{calls}{end}")).await
    }

    /// Waits for something, and keeps the connection open meanwhile.
    async fn keeping<T>(&self, work: impl Future<Output = T>) -> Result<T, Gone> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                () = self.out.closed() => return Err(Gone),
                () = tokio::time::sleep(STILL_THERE) => {
                    self.send(Bytes::from_static(b": still there\n\n")).await?;
                }
            }
        }
    }
}
