/// A large set of transcripts, outside the repository.
pub(crate) struct Set {
    /// The name of its file, without `.jsonl.gz`.
    pub(crate) name: &'static str,
    /// Its contents, in Markdown.
    pub(crate) about: &'static str,
}

/// The large sets, unlabelled ones first.
pub(crate) const SETS: [Set; 9] = [
    Set {
        name: "tau1",
        about: "airline and shop dialogues with tools, recorded from two models \
                (sierra-research/tau-bench, MIT); no labels",
    },
    Set {
        name: "workbench",
        about: "office tasks carried out by five models, some of them weak (olly-styles/WorkBench, MIT); \
                no labels",
    },
    Set {
        name: "coding",
        about: "sessions of coding agents, from public repositories (MIT, Apache-2.0); no labels",
    },
    Set {
        name: "perturbed",
        about: "dialogues of `tau1`, each with a lie put in, or with the evidence of a true \
                sentence taken out",
    },
    Set {
        name: "real_labelled",
        about: "messages of `tau1` and `workbench`, judged by hand: real lies, and honest ones \
                that look like lies",
    },
    Set { name: "coding_labelled", about: "messages of coding sessions, judged by hand" },
    Set {
        name: "coding_perturbed",
        about: "coding sessions in which one sentence, or the evidence for it, was changed",
    },
    Set {
        name: "reports",
        about: "sessions written after public reports of agents that lied, each lie with an \
                honest twin",
    },
    Set {
        name: "coding_control",
        about: "the same passages of the sessions in `coding_perturbed`, unchanged",
    },
];

/// The name of the set of many writers, which is in the repository.
pub(crate) const ADVERSARIAL: &str = "adversarial";

/// The name of the hand-written set, which is in the repository.
pub(crate) const MINI: &str = "mini";
