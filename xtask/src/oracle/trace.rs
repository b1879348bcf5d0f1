//! The trace: what strace wrote about one command, as system calls.
//!
//! Lines that strace cut in two because processes took turns are joined again. Which program a
//! process runs and where it stands is followed through forks and directory changes, so that
//! every call can be told with its program and with absolute paths.

use std::collections::{HashMap, HashSet};

/// What strace saw of one command.
#[derive(Debug, Default)]
pub struct Trace {
    /// The calls, in order.
    pub calls: Vec<SystemCall>,
    /// The processes of the command.
    pub processes: HashSet<u32>,
}

/// One system call of the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemCall {
    /// The process that made it.
    pub process: u32,
    /// The programs that process has run and was forked from, without directories, in order.
    pub lineage: Vec<String>,
    /// The path of the last of them.
    pub image: String,
    /// Where the process stands.
    pub directory: String,
    /// The call's name.
    pub name: String,
    /// Its arguments as strace writes them.
    pub arguments: Vec<String>,
    /// What it returned, as strace writes it; empty where it did not return.
    pub result: String,
    /// The line as strace wrote it.
    pub line: String,
}

/// The words that begin the shell that runs the command; what strace saw before is ours.
const BEGIN: &str = r#"["/bin/bash", "--noprofile", "--norc", "-c","#;

/// What a process was last seen as.
#[derive(Clone)]
struct Standing {
    lineage: Vec<String>,
    image: String,
    directory: String,
}

/// The command in a log of strace.
pub fn read(log: &str, directory: &str) -> Trace {
    let mut standing: HashMap<u32, Standing> = HashMap::new();
    let mut halves: HashMap<u32, String> = HashMap::new();
    // A child may be seen before the call that made it has returned.
    let mut last_parent = Standing {
        lineage: vec!["bash".to_owned()],
        image: "/bin/bash".to_owned(),
        directory: directory.to_owned(),
    };
    let mut has_begun = false;
    let mut calls = Vec::new();
    for line in log.lines() {
        let Some((process, rest)) = split_process(line) else { continue };
        if let Some(half) = rest.strip_suffix("<unfinished ...>") {
            if is_fork(half) {
                last_parent = standing.get(&process).cloned().unwrap_or(last_parent);
            }
            halves.insert(process, half.trim_end().to_owned());
            continue;
        }
        let text = match resumed(rest) {
            Some(tail) => halves.remove(&process).unwrap_or_default() + tail,
            None => rest.to_owned(),
        };
        let Some((name, arguments, result)) = split_call(&text) else { continue };
        if !has_begun {
            has_begun = name == "execve" && text.contains(BEGIN) && result == "0";
            standing.insert(process, last_parent.clone());
            continue;
        }
        let here = standing.entry(process).or_insert_with(|| last_parent.clone());
        if let Some(place) = arguments.first().and_then(|first| first.strip_prefix("AT_FDCWD<")) {
            place.trim_end_matches('>').clone_into(&mut here.directory);
        }
        let call = SystemCall {
            process,
            lineage: here.lineage.clone(),
            image: here.image.clone(),
            directory: here.directory.clone(),
            name: name.to_owned(),
            arguments,
            result: result.to_owned(),
            line: format!("{process} {text}"),
        };
        match name {
            "execve" | "execveat" if result == "0" => {
                if let Some(path) = call.path(usize::from(name == "execveat")) {
                    here.lineage.push(base_name(&path).to_owned());
                    here.image = path;
                }
            }
            "chdir" if result == "0" => {
                if let Some(path) = call.path(0) {
                    here.directory = path;
                }
            }
            "fchdir" if result == "0" => {
                if let Some(path) = call.arguments.first().and_then(|first| descriptor_path(first))
                {
                    path.clone_into(&mut here.directory);
                }
            }
            "fork" | "vfork" | "clone" | "clone3" => {
                let child = result.split_whitespace().next().and_then(|id| id.parse().ok());
                let here = here.clone();
                if let Some(child) = child {
                    standing.entry(child).or_insert(here);
                }
            }
            _ => {}
        }
        if !is_fork(name) && !matches!(name, "chdir" | "fchdir") {
            calls.push(call);
        }
    }
    // What never returned, such as a call that was killed, has been tried all the same.
    for (process, half) in halves {
        let Some((name, rest)) = half.split_once('(') else { continue };
        let here = standing.get(&process).unwrap_or(&last_parent);
        if has_begun && !is_fork(name) && name != "execve" {
            calls.push(SystemCall {
                process,
                lineage: here.lineage.clone(),
                image: here.image.clone(),
                directory: here.directory.clone(),
                name: name.to_owned(),
                arguments: split_arguments(rest),
                result: String::new(),
                line: format!("{process} {half}"),
            });
        }
    }
    Trace { calls, processes: standing.into_keys().collect() }
}

impl SystemCall {
    /// Whether it returned without an error.
    pub fn has_succeeded(&self) -> bool {
        !self.result.starts_with('-') && !self.result.is_empty()
    }

    /// The absolute path that an argument names; the argument before it may be a directory.
    pub fn path(&self, place: usize) -> Option<String> {
        let text = self.arguments.get(place)?;
        let Some(name) = unquote(text) else { return descriptor_path(text).map(normalise) };
        let base = place
            .checked_sub(1)
            .and_then(|before| self.arguments.get(before))
            .filter(|before| !before.starts_with('"'))
            .and_then(|before| descriptor_path(before));
        let base = base.unwrap_or(&self.directory);
        Some(if name.starts_with('/') {
            normalise(&name)
        } else {
            normalise(&format!("{base}/{name}"))
        })
    }
}

/// The last part of a path.
pub fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_fork(text: &str) -> bool {
    let name = text.split('(').next().unwrap_or(text);
    matches!(name, "fork" | "vfork" | "clone" | "clone3")
}

fn split_process(line: &str) -> Option<(u32, &str)> {
    let (process, rest) = line.split_once(' ')?;
    Some((process.parse().ok()?, rest.trim_start()))
}

/// What follows `<... name resumed>`.
fn resumed(rest: &str) -> Option<&str> {
    let (_, tail) = rest.strip_prefix("<... ")?.split_once(" resumed>")?;
    Some(tail)
}

/// The name, the arguments and the result of a whole line.
fn split_call(text: &str) -> Option<(&str, Vec<String>, &str)> {
    let (name, rest) = text.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    let arguments = arguments.trim_end().strip_suffix(')')?;
    // A path in an argument may hold ` = `; then the result would not be one.
    Some((name, split_arguments(arguments), result.trim()))
}

/// The arguments, split at the commas outside quotes and brackets.
fn split_arguments(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let (mut current, mut depth, mut is_quoted, mut is_escaped) =
        (String::new(), 0_usize, false, false);
    for letter in text.chars() {
        if is_escaped {
            is_escaped = false;
        } else if is_quoted {
            is_escaped = letter == '\\';
            is_quoted = letter != '"';
        } else {
            match letter {
                '"' => is_quoted = true,
                '[' | '{' | '(' | '<' => depth += 1,
                ']' | '}' | ')' | '>' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    arguments.push(std::mem::take(&mut current).trim().to_owned());
                    continue;
                }
                _ => {}
            }
        }
        current.push(letter);
    }
    if !current.trim().is_empty() {
        arguments.push(current.trim().to_owned());
    }
    arguments
}

/// The text inside quotes, with strace's escapes kept apart from `\"` and `\\`.
fn unquote(text: &str) -> Option<String> {
    let inner = text.trim_end_matches("...").strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// The path of a descriptor as `-yy` shows it: `3</some/path>`, `3</dev/null<char 1:3>>`.
fn descriptor_path(text: &str) -> Option<&str> {
    let (_, path) = text.split_once('<')?;
    let path = path.strip_suffix('>')?;
    let path = path.split("<char ").next().unwrap_or(path);
    path.starts_with('/').then_some(path)
}

/// The path without `.`, `..` and empty parts.
fn normalise(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"1 execve("/usr/bin/env", ["env"], 0x1 /* 3 vars */) = 0
1 unlink("/before") = 0
1 execve("/bin/bash", ["/bin/bash", "--noprofile", "--norc", "-c", "x"], 0x1 /* 9 vars */) = 0
1 clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
2 execve("/usr/bin/rm", ["rm", "a, b"], 0x1 /* 9 vars */ <unfinished ...>
1 <... clone resumed>, child_tidptr=0x7) = 2
2 <... execve resumed>) = 0
2 unlinkat(AT_FDCWD</home/dev/proj>, "../a, \"b\"", 0) = -1 ENOENT (No such file or directory)
2 chdir("src") = 0
2 rename("x", "/tmp/../y") = 0
2 fchmod(3</home/dev/proj/f>, 0600 <unfinished ...>
"#;

    #[test]
    fn calls_are_told_with_their_program_and_place() {
        let Trace { calls, processes } = read(LOG, "/home/dev/proj");
        assert_eq!(processes, HashSet::from([1, 2]));
        let names: Vec<_> = calls
            .iter()
            .map(|call| (call.lineage.last().unwrap().as_str(), call.name.as_str()))
            .collect();
        let expected = [("bash", "execve"), ("rm", "unlinkat"), ("rm", "rename"), ("rm", "fchmod")];
        assert_eq!(names, expected);
        assert_eq!(calls[1].path(1).unwrap(), "/home/dev/a, \"b\"");
        assert!(!calls[1].has_succeeded());
        assert_eq!(calls[2].path(0).unwrap(), "/home/dev/proj/src/x");
        assert_eq!(calls[2].path(1).unwrap(), "/y");
        assert_eq!(calls[3].path(0).unwrap(), "/home/dev/proj/f");
    }
}
