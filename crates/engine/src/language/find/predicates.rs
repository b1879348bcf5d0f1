//! Every predicate of find that is known, with what it takes and does.

/// What a predicate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Predicate {
    /// Tests, prints to standard output or steers; takes so many values.
    Plain(usize),
    /// `-depth`, which may have a number behind it.
    Depth,
    /// Removes what is found.
    Delete,
    /// Prints to a file, which is the first of so many values.
    Print(usize),
    /// Takes the start paths from a file.
    StartsFrom,
    /// Runs a command.
    Execute {
        /// `{} +` ends it.
        plus: bool,
        /// It runs in the directory of what is found.
        directory: bool,
    },
}

/// The predicate of that name.
pub(super) fn predicate(name: &[u8]) -> Option<Predicate> {
    use Predicate::{Delete, Depth, Execute, Plain, Print, StartsFrom};
    Some(match name.strip_prefix(b"-")? {
        b"a"
        | b"acl"
        | b"and"
        | b"daystart"
        | b"empty"
        | b"executable"
        | b"false"
        | b"follow"
        | b"help"
        | b"-help"
        | b"ignore_readdir_race"
        | b"ls"
        | b"mount"
        | b"nogroup"
        | b"noignore_readdir_race"
        | b"noleaf"
        | b"not"
        | b"nouser"
        | b"nowarn"
        | b"o"
        | b"or"
        | b"print"
        | b"print0"
        | b"prune"
        | b"quit"
        | b"readable"
        | b"sparse"
        | b"true"
        | b"version"
        | b"-version"
        | b"warn"
        | b"writable"
        | b"x"
        | b"xattr"
        | b"xdev" => Plain(0),
        b"Bmin" | b"Bnewer" | b"Btime" | b"amin" | b"anewer" | b"atime" | b"cmin" | b"cnewer"
        | b"context" | b"ctime" | b"flags" | b"fstype" | b"gid" | b"group" | b"ilname"
        | b"iname" | b"inum" | b"ipath" | b"iregex" | b"iwholename" | b"links" | b"lname"
        | b"maxdepth" | b"mindepth" | b"mmin" | b"mnewer" | b"mtime" | b"name" | b"newer"
        | b"path" | b"perm" | b"printf" | b"regex" | b"regextype" | b"samefile" | b"size"
        | b"type" | b"uid" | b"used" | b"user" | b"wholename" | b"xattrname" | b"xtype" => Plain(1),
        b"d" | b"depth" => Depth,
        b"delete" => Delete,
        b"fls" | b"fprint" | b"fprint0" => Print(1),
        b"fprintf" => Print(2),
        b"files0-from" => StartsFrom,
        b"exec" => Execute { plus: true, directory: false },
        b"execdir" => Execute { plus: true, directory: true },
        b"ok" => Execute { plus: false, directory: false },
        b"okdir" => Execute { plus: false, directory: true },
        name => return is_newer(name).then_some(Plain(1)),
    })
}

/// Whether a name is of the `-newerXY` family.
fn is_newer(name: &[u8]) -> bool {
    let Some(times) = name.strip_prefix(b"newer") else { return false };
    matches!(times, [b'a' | b'B' | b'c' | b'm', b'a' | b'B' | b'c' | b'm' | b't'])
}
