/// Why an answer can be read in more than one way. It quotes nothing from the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    #[error("part of the answer is not valid JSON, or contains a duplicate key")]
    Json,
    #[error("a member of the answer differs from a known one only in letter case")]
    Member,
    #[error("the answer has several choices")]
    Choices,
    #[error("the answer gives its text in more than one place")]
    Words,
    #[error("the answer specifies the same call in more than one form")]
    Call,
    #[error(
        "an event has a name that differs from its `type`, or some events have names and others \
         have none"
    )]
    Name,
    #[error("a call in the answer has a name that no tool can have")]
    Tool,
    #[error("a part of the answer begins twice, or never began")]
    Place,
    #[error("a repeated part of the answer differs from the first version")]
    Repeated,
    #[error("the answer has text in a place that is not checked")]
    LooseWords,
    #[error("a word in the answer contains look-alike or invisible characters")]
    Letters,
    #[error("the answer has a call in a place that is not checked")]
    LooseCall,
    #[error("clients would read something other than what was judged")]
    NotJudged,
}

pub(super) type Read<T = ()> = Result<T, Unreadable>;
