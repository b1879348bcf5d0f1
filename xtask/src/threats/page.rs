//! The page: its tables, made from the data; everything between the marks is written by us.

use std::fmt::Write;

use anyhow::Context;

use super::proof::Proofs;
use super::{Incident, Part, Requirement, Threats};

/// Makes one table.
type Make = fn(&Threats, &Proofs) -> String;

/// Between such marks stands what is made: `<!-- name -->` to `<!-- end of name -->`.
const MADE: [(&str, Make); 3] =
    [("requirements", requirements), ("incidents", incidents), ("weak spots", weak_spots)];

/// The page with its tables made anew.
pub fn with_tables(page: &str, threats: &Threats, proofs: &Proofs) -> anyhow::Result<String> {
    let mut text = page.to_owned();
    for (name, make) in MADE {
        let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
        let (before, rest) = text
            .split_once(&begin)
            .with_context(|| format!("the page has no mark `{}`", begin.trim()))?;
        let (_, after) =
            rest.split_once(&end).with_context(|| format!("the page has no mark `{end}`"))?;
        text = format!("{before}{begin}{}{end}{after}", make(threats, proofs));
    }
    Ok(text)
}

fn requirements(threats: &Threats, _proofs: &Proofs) -> String {
    threats.part.iter().map(part).collect()
}

fn part(part: &Part) -> String {
    let mut out = format!(
        "\n### {}\n\n| | Promise | After | Proof |\n| --- | --- | --- | --- |\n",
        part.title
    );
    for one in &part.requirement {
        let proofs: Vec<String> = one.proofs.iter().map(|proof| linked(proof)).collect();
        let Requirement { id, promise, incidents, .. } = one;
        // Writing to memory cannot fail.
        let _ = writeln!(
            out,
            "| {id} | {} | {} | {} |",
            cell(promise),
            cell(&incidents.join("; ")),
            proofs.join(", ")
        );
    }
    out.push('\n');
    out
}

fn incidents(threats: &Threats, proofs: &Proofs) -> String {
    let mut out =
        "\n| Incident | What is repeated | For | By |\n| --- | --- | --- | --- |\n".to_owned();
    for Incident { id, what, secondary, proofs: tests } in &threats.incident {
        let ids: Vec<&str> = threats
            .requirements()
            .filter(|one| one.incidents.contains(id))
            .map(|one| one.id.as_str())
            .collect();
        let mut by: Vec<String> = tests.iter().map(|proof| linked(proof)).collect();
        match proofs.cases_of(id) {
            0 => {}
            1 => by.insert(0, "1 case".to_owned()),
            count => by.insert(0, format!("{count} cases")),
        }
        let mark = if *secondary { " °" } else { "" };
        let (id, what) = (cell(id), cell(what));
        let _ = writeln!(out, "| {id}{mark} | {what} | {} | {} |", ids.join(", "), by.join(", "));
    }
    out.push('\n');
    out
}

fn weak_spots(threats: &Threats, _proofs: &Proofs) -> String {
    let mut out = "\n".to_owned();
    for one in threats.requirements() {
        if let Some(weak) = &one.weak {
            let _ = writeln!(out, "- **{}**: {weak}", one.id);
        }
    }
    out.push('\n');
    out
}

/// A proof as a link to where it stands.
fn linked(proof: &str) -> String {
    if proof.starts_with("cargo ") {
        return format!("`{proof}`");
    }
    match proof.split_once('#') {
        Some((path, name)) => format!("[`{}`](../{path})", cell(&name.replace('\n', "⏎"))),
        None => format!("[`{}`](../{proof})", proof.rsplit('/').next().unwrap_or(proof)),
    }
}

/// A text for a cell: a bar would end it.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_leads_to_its_file_and_a_bar_ends_no_cell() {
        assert_eq!(linked("a/b.rs#name"), "[`name`](../a/b.rs)");
        assert_eq!(linked("a/b.toml#x | y"), "[`x \\| y`](../a/b.toml)");
        assert_eq!(linked("tests/c/d.jsonl"), "[`d.jsonl`](../tests/c/d.jsonl)");
        assert_eq!(linked("cargo xtask kill"), "`cargo xtask kill`");
    }
}
