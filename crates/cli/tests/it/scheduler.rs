//! `counterfoil scheduler`: time expressions, stored tasks, runs, refusals.

use serde_json::{Value, json};

use crate::chat::{desk, model, says};
use crate::{Desk, Ran};

fn scheduler(desk: &Desk, words: &[&str]) -> Ran {
    let variables = [("COUNTERFOIL_STATE", "state"), ("NO_COLOR", "1"), ("TZ", "Europe/Berlin")];
    desk.spawn(&variables, &[&["scheduler"], words].concat(), "")
}

#[test]
fn a_phrase_is_explained_or_refused() {
    let desk = Desk::with(&[]);
    let good = scheduler(&desk, &["explain", "every weekday at 9am"]);
    assert!(good.out.starts_with("every weekday at 09:00 Europe/Berlin; next: "), "{good}");
    assert_eq!((good.code, good.out.lines().count()), (0, 4), "{good}");
    let odd = scheduler(&desk, &["explain", "every blue moon"]);
    assert_eq!(odd.code, 2, "{odd}");
    assert!(odd.err.contains("`blue` was not understood; try `"), "{odd}");
}

#[test]
fn tasks_are_kept_listed_and_ended() {
    let desk = Desk::with(&[]);
    let none = scheduler(&desk, &["list"]);
    assert_eq!(none.out, "no tasks\n", "{none}");
    let made = scheduler(&desk, &["add", "every weekday at 9am", "Look at the build."]);
    assert!(made.out.starts_with("task 1: every weekday at 09:00 Europe/Berlin"), "{made}");
    let shown: Value =
        serde_json::from_str(&scheduler(&desk, &["list", "--format", "json"]).out).unwrap();
    let task = &shown[0];
    assert_eq!((&task["task"], &task["state"]), (&json!(1), &json!("active")), "{shown}");
    assert_eq!(task["prompt"], "Look at the build.");
    assert_eq!(scheduler(&desk, &["cancel", "1"]).out, "task 1 cancelled\n");
    for (words, why) in [
        (&["cancel", "1"][..], "no active task 1"),
        (&["cancel", "0"], "no active task 0"),
        (&["add", "yesterday at 5", "x"], "yesterday"),
        (&["add", "in 5 minutes", " "], "prompt"),
    ] {
        let ran = scheduler(&desk, words);
        assert!(ran.code != 0 && ran.err.contains(why), "{words:?}: {ran}");
    }
}

#[test]
fn what_is_due_is_run_once() {
    let (port, _) = model(vec![says("Which build is meant?")]);
    let desk = desk(port, "");
    let made = scheduler(&desk, &["add", "in 1 second", "Look at the build."]);
    assert_eq!(made.code, 0, "{made}");
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let ran = scheduler(&desk, &["run", "--once"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Which build is meant?\n"), "{ran}");
    let again = scheduler(&desk, &["run", "--once"]);
    assert_eq!((again.code, again.out.as_str()), (0, ""), "{again}");
    let listed = scheduler(&desk, &["list", "--all"]);
    assert!(listed.out.contains("1  done  –  in 1 second\n   Look at the build."), "{listed}");
    assert!(listed.out.contains(": done\n"), "{listed}");
    let receipts = desk.run_in(&[("COUNTERFOIL_STATE", "state")], "audit query --tool run_task");
    assert!(receipts.out.contains("run_task"), "{receipts}");
}
