use counterfoil_shell::Word;

/// The parsed arguments of a program.
pub(super) struct Arguments<'a> {
    /// Words that are neither options nor values of options.
    pub(super) operands: Vec<&'a Word>,
    /// The options with their values, each as `-x` or `--name`.
    options: Vec<(String, Option<Word>)>,
}

impl<'a> Arguments<'a> {
    /// Parses arguments. `valued` options take the next word or an attached value.
    pub(super) fn new(args: &'a [Word], valued: &[&str]) -> Self {
        let mut read = Self { operands: Vec::new(), options: Vec::new() };
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let text = word.text.as_str();
            if text == "--" {
                read.operands.extend(words.by_ref());
            } else if text.starts_with("--") {
                let (name, value) = read.long(word, valued);
                let value = value
                    .or_else(|| valued.contains(&name.as_str()).then(|| words.next().cloned())?);
                read.options.push((name, value));
            } else if text.len() > 1 && text.starts_with('-') {
                if let Some(name) = read.cluster(word, valued) {
                    read.options.push((name, words.next().cloned()));
                }
            } else {
                read.operands.push(word);
            }
        }
        read
    }

    /// Splits a long option with an attached value: `--target-dir=x`.
    fn long(&self, word: &Word, valued: &[&str]) -> (String, Option<Word>) {
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.text.as_str(), None),
        };
        let whole = valued.iter().find(|known| name.len() > 3 && known.starts_with(name));
        let value = value.map(|text| Word { text: text.to_owned(), kind: word.kind });
        (whole.map_or(name, |known| *known).to_owned(), value)
    }

    /// Parses a cluster of letters such as `-sSLo`. Returns the last letter if it takes the next
    /// word as its value.
    fn cluster(&mut self, word: &Word, valued: &[&str]) -> Option<String> {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        if valued.contains(&word.text.as_str()) {
            return Some(word.text.clone());
        }
        for (at, letter) in letters.char_indices() {
            let name = format!("-{letter}");
            if valued.contains(&name.as_str()) {
                let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
                if rest.is_empty() {
                    return Some(name);
                }
                let value = Word { text: rest.to_owned(), kind: word.kind };
                self.options.push((name, Some(value)));
                return None;
            }
            self.options.push((name, None));
        }
        // Some programs have long options with a single dash: `-delete`.
        self.options.push((word.text.clone(), None));
        None
    }

    /// Whether an option is present, or a word is the first operand: `-r`, `--recursive`, `config`.
    pub(super) fn has(&self, word: &str) -> bool {
        match word.starts_with('-') {
            true => self.options.iter().any(|(name, _)| {
                name == word
                    || word.starts_with("--") && name.len() > 4 && word.starts_with(name.as_str())
            }),
            false => self.operands.first().is_some_and(|first| first.text == word),
        }
    }

    /// The values of these options.
    pub(super) fn values(&self, names: &[&str]) -> Vec<Word> {
        let of = |(name, value): &(String, Option<Word>)| {
            names.contains(&name.as_str()).then(|| value.clone()).flatten()
        };
        self.options.iter().filter_map(of).filter(|word| word.text != "-").collect()
    }
}
