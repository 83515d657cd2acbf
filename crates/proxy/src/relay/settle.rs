//! Decides about a complete streamed answer: unchanged, with its problems below, or in other words.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use counterfoil_providers::{Reply, Stop};
use hyper::body::Bytes;

use super::{Gone, Relay};
use crate::conclusion::{Became, Conclusion};
use crate::correct::Corrected;
use crate::notes;
use crate::ruling::{Instead, Ruling, Words, first_bad};

/// The interval of comments that keep the connection open while the model is asked again.
const STILL_THERE: Duration = Duration::from_secs(10);

impl Relay {
    /// Handles a complete answer.
    pub(super) async fn ended(&mut self, reply: Reply, became: &mut Became) -> Conclusion {
        *became = Became::from_reply(became.status, &reply);
        let exchange = Arc::clone(&self.exchange);
        let concluded = self.keeping(exchange.conclude(&reply, "", exchange.limit())).await;
        let Ok(conclusion) = concluded else {
            became.what = "broken off";
            let unjudged = Some("the client disconnected".to_owned());
            return Conclusion { unjudged, ..Conclusion::default() };
        };
        let conclusion = Conclusion { doubt: self.unaccounted(&reply), ..conclusion };
        // From here on, a client that disconnects changes nothing.
        match conclusion.ruling(&exchange.settings) {
            Ruling::Pass => {
                became.what = conclusion.passed();
                self.pass(&reply, &conclusion).await.ok();
            }
            Ruling::Withhold(why) => {
                became.withhold();
                became.message.text = self.text.get(..self.released).unwrap_or_default().to_owned();
                exchange.not_made(&conclusion.calls.passed).await;
                self.hold_unread(&why).await.ok();
            }
            Ruling::Wrong => self.wrong(&reply, &conclusion, became).await,
        }
        became.message.text.push_str(&self.own);
        conclusion
    }

    /// Passes on an answer without problems, unchanged or with only its thoughts removed.
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

    /// Handles an answer with problems. If the mode allows waiting, the model is asked again.
    async fn wrong(&mut self, reply: &Reply, conclusion: &Conclusion, became: &mut Became) {
        let exchange = Arc::clone(&self.exchange);
        let structured = exchange.request.structured;
        if exchange.mode().holds() && conclusion.is_wrong(&exchange.settings) {
            let bad = first_bad(&self.text, &conclusion.bad(exchange.settings.least));
            let cut = if structured { 0 } else { bad.max(self.released) };
            became.message.text = self.text.get(..cut).unwrap_or_default().to_owned();
            let read = became.message.text.clone();
            if self.release_until(cut).await.is_err() {
                became.what = "broken off";
                return;
            }
            match self.keeping(exchange.corrected(reply, conclusion, &read)).await {
                Err(Gone) => {
                    became.what = "broken off";
                    return;
                }
                Ok(Ok(corrected)) => {
                    became.corrected(&corrected);
                    self.go_on(&corrected).await.ok();
                    return;
                }
                Ok(Err(retries)) => became.retried(retries),
            }
        }
        let instead = conclusion.instead(&exchange.settings, structured);
        became.written(&instead);
        if !conclusion.is_wrong(&exchange.settings) {
            became.what = conclusion.passed();
        }
        if matches!(instead.words, Words::Beneath(_)) {
            became.message.text.clone_from(&self.text);
        }
        self.instead(reply, conclusion, instead).await.ok();
    }

    /// Writes the text below the answer, or in its place.
    async fn instead(
        &mut self,
        reply: &Reply,
        conclusion: &Conclusion,
        instead: Instead,
    ) -> Result<(), Gone> {
        self.write(notes::comment(&instead.report)).await?;
        match instead.words {
            Words::Beneath(words) if words.is_empty() && instead.same_calls => {
                return self.pass(reply, conclusion).await;
            }
            Words::Beneath(words) => {
                self.release_until(self.text.len()).await?;
                self.words(&words).await?;
            }
            Words::Until(words) => self.words(&words).await?,
            Words::Refused(words) => {
                let refusal = self.writer.refusal(&words);
                self.write(refusal).await?;
            }
        }
        // If calls were not held back, the client already has them.
        let waited = self.exchange.mode().holds() || self.exchange.tools.is_some();
        if waited {
            let calls = self.writer.calls(&instead.calls, &reply.kept);
            self.write(calls).await?;
        }
        let stop = match reply.stop {
            Stop::Calls if waited && instead.calls.is_empty() => Stop::End,
            stop => stop,
        };
        let end = self.writer.end(stop);
        self.write(end).await
    }

    /// Passes on all events up to `cut`. Words of an event that also goes beyond it are written
    /// anew.
    async fn release_until(&mut self, cut: usize) -> Result<(), Gone> {
        while let Some(front) = self.queue.front() {
            if front.last && !front.speaks {
                break;
            }
            if front.speaks && (front.end > cut || front.last) {
                break;
            }
            // The event that ends a part must not come before the rest of the part.
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

    /// Appends the corrected answer to what the client already has.
    async fn go_on(&mut self, corrected: &Corrected) -> Result<(), Gone> {
        let Corrected { reply, conclusion, .. } = corrected;
        // A model may repeat the beginning nevertheless.
        let read = self.text.get(..self.released).unwrap_or_default().trim();
        let text = reply.text.trim_start();
        let text = text.strip_prefix(read).filter(|_| !read.is_empty()).unwrap_or(text);
        let comment = format!(": counterfoil {{\"corrections\":{}}}\n\n", corrected.retries.times);
        self.write(comment).await?;
        let apart = self.released > 0 && !text.trim().is_empty();
        let text = format!("{}{}", if apart { "\n\n" } else { "" }, text.trim_start());
        self.words(&text).await?;
        let calls = self.writer.calls(&conclusion.calls.passed, &reply.kept);
        let end = self.writer.end(reply.stop);
        self.write(format!("{calls}{end}")).await
    }

    /// Waits for a future, and keeps the connection open meanwhile.
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
