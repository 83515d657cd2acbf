//! Converts a page to Markdown, without navigation and other surroundings.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use htmd::HtmlToMarkdown;
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Node, NodeData, RcDom};
use url::Url;

/// The number of bytes parsed at a time; between two pieces the conversion can be abandoned.
const PIECE: usize = 4 * 1024;

/// The maximum depth of elements, because the converter is recursive.
const DEEPEST: usize = 100;

/// The maximum number of elements and texts, because joining neighbours takes quadratic time.
const MOST_NODES: usize = 30_000;

/// Elements that are not content.
const AROUND: [&str; 22] = [
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "embed",
    "canvas", "form", "input", "button", "select", "textarea", "nav", "header", "footer", "aside",
    "dialog", "audio", "video",
];

/// A page as Markdown.
pub(super) struct Converted {
    pub(super) text: String,
    /// Whether parts were left out because there was too much.
    pub(super) cut: bool,
}

/// Converts a page located at `base`; `None` if the conversion was abandoned.
pub(super) fn markdown(html: &str, base: &Url, given_up: &AtomicBool) -> Option<Converted> {
    let mut parser = parse_document(RcDom::default(), ParseOpts::default());
    let mut rest = html;
    while !rest.is_empty() {
        if given_up.load(Ordering::Acquire) {
            return None;
        }
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE.min(rest.len())));
        parser.process(StrTendril::from(piece));
        rest = after;
    }
    let document = parser.finish().document;
    let title = text_of(&document, "title");
    let content = only(&document, "main").or_else(|| only(&document, "article"));
    let whole = content.is_none();
    // Keep the document alive: dropping it takes the children of all its nodes along.
    let content = content.unwrap_or_else(|| Rc::clone(&document));
    let cut = prune(&content, whole);
    each(&content, |node| {
        complete_links(node, base);
        true
    });
    if given_up.load(Ordering::Acquire) {
        return None;
    }
    let text = HtmlToMarkdown::builder().skip_tags(vec!["head"]).build().tree_to_markdown(&content);
    let title = title.filter(|title| !title.is_empty() && !text.contains(title.as_str()));
    let text = match title {
        Some(title) => format!("# {title}\n\n{text}"),
        None => text,
    };
    Some(Converted { text, cut })
}

/// Visits every node, level by level, without recursion, until `see` returns false.
fn each(root: &Rc<Node>, mut see: impl FnMut(&Rc<Node>) -> bool) {
    let mut waiting = VecDeque::from([Rc::clone(root)]);
    while let Some(node) = waiting.pop_front() {
        if !see(&node) {
            return;
        }
        waiting.extend(node.children.borrow().iter().cloned());
    }
}

fn is_named(node: &Node, name: &str) -> bool {
    matches!(&node.data, NodeData::Element { name: own, .. } if &*own.local == name)
}

/// The only element of this name; `None` if there are several.
fn only(root: &Rc<Node>, name: &str) -> Option<Rc<Node>> {
    let mut found = Vec::new();
    each(root, |node| {
        if is_named(node, name) {
            found.push(Rc::clone(node));
        }
        found.len() < 2
    });
    match found.as_slice() {
        [one] => Some(Rc::clone(one)),
        _ => None,
    }
}

/// The text of the first element of this name, on one line.
fn text_of(root: &Rc<Node>, name: &str) -> Option<String> {
    let mut text = None;
    each(root, |node| {
        if is_named(node, name) {
            let children = node.children.borrow();
            let parts = children.iter().filter_map(|child| match &child.data {
                NodeData::Text { contents } => Some(contents.borrow().to_string()),
                _ => None,
            });
            let whole: String = parts.collect();
            text = Some(whole.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        text.is_none()
    });
    text
}

/// Makes links absolute, so that they can be followed without the page.
fn complete_links(node: &Node, base: &Url) {
    let NodeData::Element { attrs, .. } = &node.data else { return };
    for attribute in attrs.borrow_mut().iter_mut() {
        let leads = matches!(&*attribute.name.local, "href" | "src");
        if leads && let Ok(whole) = base.join(&attribute.value) {
            attribute.value = StrTendril::from(whole.as_str());
        }
    }
}

/// Removes what is not content, what is too deep and what is too much. Returns whether any of the
/// latter two was removed. An element chosen as the content keeps its own header.
fn prune(root: &Rc<Node>, whole: bool) -> bool {
    let (mut cut, mut seen) = (false, 0_usize);
    let mut waiting = VecDeque::from([(Rc::clone(root), 0_usize)]);
    while let Some((node, depth)) = waiting.pop_front() {
        let mut children = node.children.borrow_mut();
        children.retain(|child| match &child.data {
            NodeData::Element { name, .. } => {
                let name = &*name.local;
                !AROUND.contains(&name) || (!whole && name == "header")
            }
            NodeData::Text { .. } => true,
            _ => false,
        });
        if depth >= DEEPEST {
            cut |= !children.is_empty();
            children.clear();
        }
        let left = MOST_NODES.saturating_sub(seen);
        if children.len() > left {
            cut = true;
            children.truncate(left);
        }
        seen += children.len();
        waiting.extend(children.iter().map(|child| (Rc::clone(child), depth + 1)));
    }
    cut
}
