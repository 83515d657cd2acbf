//! What was worked out of the record as it was before one message.

use std::cell::RefCell;
use std::rc::Rc;

/// Keeps what was worked out for the message that anybody asked about last: answers are judged in
/// their order, and each by many rules.
#[derive(Debug)]
pub(crate) struct Latest<T>(RefCell<Option<(usize, Rc<T>)>>);

impl<T> Latest<T> {
    /// What was worked out for message `turn`; `make` works it out the first time.
    pub(crate) fn get(&self, turn: usize, make: impl FnOnce() -> T) -> Rc<T> {
        if let Some((known, value)) = &*self.0.borrow()
            && *known == turn
        {
            return Rc::clone(value);
        }
        let value = Rc::new(make());
        self.0.replace(Some((turn, Rc::clone(&value))));
        value
    }
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self(RefCell::new(None))
    }
}
