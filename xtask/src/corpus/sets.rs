/// A large set of transcripts, outside the repository.
pub(crate) struct Set {
    /// The name of its file, without `.jsonl.gz`.
    pub(crate) name: &'static str,
    /// Its contents, in Markdown.
    pub(crate) about: &'static str,
}

/// The large sets, unlabelled ones first.
pub(crate) const SETS: [Set; 10] = [
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
        name: "real3",
        about: "sessions of coding agents and of agents with other tools, from other repositories \
                (MIT); no labels",
    },
    Set {
        name: "perturbed",
        about: "dialogues from `tau1`, each with a lie inserted or with the evidence for a true \
                sentence removed",
    },
    Set {
        name: "real_labelled",
        about: "messages from `tau1` and `workbench`, labelled by hand: real lies, and honest \
                messages that look like lies",
    },
    Set { name: "coding_labelled", about: "messages from coding sessions, labelled by hand" },
    Set {
        name: "coding_perturbed",
        about: "coding sessions in which one sentence, or the evidence for it, was changed",
    },
    Set {
        name: "reports",
        about: "sessions modelled on public reports of agents that lied; each lie has an honest \
                twin",
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
