//! The table that is printed.

/// Rows of what was measured beside what was to be reached.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
}

struct Row {
    what: String,
    found: String,
    goal: String,
    verdict: Verdict,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Pass,
    Fail,
    /// Depends on the machine, so it is shown and not judged.
    Reached,
    Missed,
    None,
}

impl Table {
    /// A figure that is judged: a ratio within this run, or a count.
    pub fn judge(&mut self, what: &str, found: String, goal: &str, holds: bool) {
        self.push(what, found, goal, if holds { Verdict::Pass } else { Verdict::Fail });
    }

    /// A figure that depends on the machine, with the goal it is held against.
    pub fn inform(&mut self, what: &str, found: String, goal: &str, holds: bool) {
        self.push(what, found, goal, if holds { Verdict::Reached } else { Verdict::Missed });
    }

    /// A figure without a goal.
    pub fn note(&mut self, what: &str, found: String) {
        self.push(what, found, "", Verdict::None);
    }

    fn push(&mut self, what: &str, found: String, goal: &str, verdict: Verdict) {
        self.rows.push(Row { what: what.to_owned(), found, goal: goal.to_owned(), verdict });
    }

    /// Whether nothing that is judged failed.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.rows.iter().all(|row| row.verdict != Verdict::Fail)
    }

    /// Prints the rows under a heading.
    pub fn print(&self, heading: &str) {
        let width = |column: fn(&Row) -> &str| {
            self.rows.iter().map(|row| column(row).chars().count()).max().unwrap_or_default()
        };
        let (what, found) = (width(|row| &row.what), width(|row| &row.found));
        let goal = width(|row| &row.goal);
        println!("\n{heading}");
        for row in &self.rows {
            let verdict = match row.verdict {
                Verdict::Pass => "PASS",
                Verdict::Fail => "FAIL",
                Verdict::Reached => "reached (depends on the machine)",
                Verdict::Missed => "missed (depends on the machine)",
                Verdict::None => "",
            };
            let line = format!(
                "  {:<what$}  {:>found$}  {:<goal$}  {verdict}",
                row.what, row.found, row.goal
            );
            println!("{}", line.trim_end());
        }
    }
}
