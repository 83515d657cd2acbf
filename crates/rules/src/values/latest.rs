//! A cached view of the record before one message.

use std::cell::RefCell;
use std::rc::Rc;

/// Caches a value for the latest message that was asked about. Answers are judged in order, and
/// each by many rules.
#[derive(Debug)]
pub(crate) struct Latest<T>(RefCell<Option<(usize, Rc<T>)>>);

impl<T> Latest<T> {
    /// The value for message `turn`. `make` computes it the first time.
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
