//! What `mongosh --eval` is given: JavaScript, of which only chains of known calls are read.
//!
//! A statement is `show …`, `use …`, or a chain that begins with `db` or `rs` and goes on with names
//! and calls; the arguments are written out, as JSON is. Functions, variables and operators are not
//! read: then nothing is certain. To add a method, add it to [`METHODS`].

use super::cursor::Cursor;

/// Calls that only ask, of a database, a collection, a cursor and a set of replicas.
const METHODS: [&str; 61] = [
    "aggregate",
    "batchSize",
    "collation",
    "comment",
    "conf",
    "count",
    "countDocuments",
    "currentOp",
    "dataSize",
    "distinct",
    "estimatedDocumentCount",
    "explain",
    "find",
    "findOne",
    "getCollection",
    "getCollectionInfos",
    "getCollectionNames",
    "getIndexKeys",
    "getIndexes",
    "getName",
    "getProfilingStatus",
    "getReplicationInfo",
    "getShardDistribution",
    "getSiblingDB",
    "hasNext",
    "hello",
    "help",
    "hint",
    "hostInfo",
    "isCapped",
    "isMaster",
    "itcount",
    "latencyStats",
    "limit",
    "max",
    "maxTimeMS",
    "min",
    "next",
    "objsLeftInBatch",
    "pretty",
    "printCollectionStats",
    "printReplicationInfo",
    "printSecondaryReplicationInfo",
    "projection",
    "readConcern",
    "readPref",
    "returnKey",
    "serverBuildInfo",
    "serverStatus",
    "showRecordId",
    "size",
    "skip",
    "sort",
    "stats",
    "status",
    "storageSize",
    "toArray",
    "totalIndexSize",
    "totalSize",
    "validate",
    "version",
];

/// Commands that only ask; the first key of the argument names them.
const COMMANDS: [&str; 14] = [
    "buildInfo",
    "collStats",
    "connPoolStats",
    "connectionStatus",
    "count",
    "dbStats",
    "distinct",
    "hello",
    "hostInfo",
    "isMaster",
    "listCollections",
    "listDatabases",
    "ping",
    "serverStatus",
];

/// What `show` shows.
const SHOWN: [&str; 6] = ["collections", "databases", "dbs", "profile", "roles", "tables"];

/// Functions that print what they are given.
const PRINTERS: [&str; 5] = ["EJSON.stringify", "JSON.stringify", "print", "printjson", "tojson"];

/// Types that an argument may be put in.
const TYPES: [&str; 12] = [
    "Date",
    "Decimal128",
    "Int32",
    "ISODate",
    "Long",
    "NumberDecimal",
    "NumberInt",
    "NumberLong",
    "ObjectId",
    "RegExp",
    "Timestamp",
    "UUID",
];

/// Keys with which a query writes or runs code.
const KEYS: [&str; 6] = ["$accumulator", "$eval", "$function", "$merge", "$out", "$where"];

/// Arguments deeper than this are not read.
const DEEPEST: usize = 24;

/// Whether a text only reads the database.
#[must_use]
pub fn mongo_reads(text: &[u8]) -> bool {
    // Here the server keeps who may do what, passwords included.
    let names_secrets = text.windows(7).any(|part| part.eq_ignore_ascii_case(b"system."));
    if names_secrets || text.contains(&b'\\') {
        return false;
    }
    let mut script = Script { rest: Cursor::new(text) };
    script.statements().is_some()
}

struct Script<'t> {
    rest: Cursor<'t>,
}

impl Script<'_> {
    fn statements(&mut self) -> Option<()> {
        loop {
            self.blanks(true);
            while self.rest.eat(b';') {
                self.blanks(true);
            }
            if self.rest.peek().is_none() {
                return Some(());
            }
            self.statement()?;
            self.blanks(false);
            match self.rest.peek() {
                None | Some(b';' | b'\n') => {}
                Some(_) => return None,
            }
        }
    }

    fn statement(&mut self) -> Option<()> {
        let start = self.rest;
        match self.name() {
            "show" => {
                self.blanks(false);
                SHOWN.contains(&self.name()).then_some(())
            }
            "use" => {
                self.blanks(false);
                (!self.name().is_empty()).then_some(())
            }
            _ => {
                self.rest = start;
                self.printed()
            }
        }
    }

    /// A chain, or what is printed of one.
    fn printed(&mut self) -> Option<()> {
        let start = self.rest;
        let path = self.path();
        if PRINTERS.contains(&path.as_str()) && self.rest.eat(b'(') {
            self.blanks(true);
            self.chain()?;
            self.blanks(true);
            // How it is laid out.
            while self.rest.eat(b',') {
                self.argument(0)?;
                self.blanks(true);
            }
            return self.rest.eat(b')').then_some(());
        }
        self.rest = start;
        self.chain()
    }

    /// `db.users.find({}).limit(5)`
    fn chain(&mut self) -> Option<()> {
        if !matches!(self.name(), "db" | "rs") {
            return None;
        }
        loop {
            let before = self.rest;
            self.blanks(true);
            if self.rest.eat(b'[') {
                self.blanks(true);
                self.string()?;
                self.blanks(true);
                self.rest.eat(b']').then_some(())?;
                continue;
            }
            if !self.rest.eat(b'.') {
                self.rest = before;
                return Some(());
            }
            let name = self.name().to_owned();
            if name.is_empty() {
                return None;
            }
            if self.rest.eat(b'(') {
                self.call(&name)?;
            }
        }
    }

    /// The arguments of a call, behind its parenthesis.
    fn call(&mut self, name: &str) -> Option<()> {
        self.blanks(true);
        if matches!(name, "adminCommand" | "runCommand") {
            let start = self.rest;
            self.command()?;
            self.rest = start;
        } else if name == "forEach" {
            matches!(self.name(), "print" | "printjson").then_some(())?;
            self.blanks(true);
            return self.rest.eat(b')').then_some(());
        } else if !METHODS.contains(&name) {
            return None;
        }
        if self.rest.eat(b')') {
            return Some(());
        }
        loop {
            self.argument(0)?;
            self.blanks(true);
            if self.rest.eat(b')') {
                return Some(());
            }
            self.rest.eat(b',').then_some(())?;
        }
    }

    /// A command that only asks: `'ping'`, `{ ping: 1 }`.
    fn command(&mut self) -> Option<()> {
        self.rest.eat(b'{');
        self.blanks(true);
        let key = self.key()?;
        COMMANDS.contains(&key.as_str()).then_some(())
    }

    /// One value that is written out.
    fn argument(&mut self, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        self.blanks(true);
        match self.rest.peek()? {
            b'{' => self.members(b'}', depth, true),
            b'[' => self.members(b']', depth, false),
            b'"' | b'\'' => self.string().map(drop),
            b'/' => self.expression(),
            b'-' | b'0'..=b'9' => {
                self.rest.bump();
                while self.rest.peek().is_some_and(|byte| byte.is_ascii_digit() || byte == b'.') {
                    self.rest.bump();
                }
                Some(())
            }
            _ => {
                let start = self.rest;
                if self.name() == "new" {
                    self.blanks(false);
                } else {
                    self.rest = start;
                }
                let name = self.name().to_owned();
                if matches!(name.as_str(), "true" | "false" | "null" | "undefined") {
                    return Some(());
                }
                (TYPES.contains(&name.as_str()) && self.rest.eat(b'(')).then_some(())?;
                self.blanks(true);
                if self.rest.eat(b')') {
                    return Some(());
                }
                self.argument(depth + 1)?;
                self.blanks(true);
                self.rest.eat(b')').then_some(())
            }
        }
    }

    /// The members of an object or a list.
    fn members(&mut self, end: u8, depth: usize, has_keys: bool) -> Option<()> {
        self.rest.bump();
        loop {
            self.blanks(true);
            if self.rest.eat(end) {
                return Some(());
            }
            if has_keys {
                let key = self.key()?;
                if KEYS.contains(&key.as_str()) {
                    return None;
                }
                self.blanks(true);
                self.rest.eat(b':').then_some(())?;
            }
            self.argument(depth + 1)?;
            self.blanks(true);
            if !self.rest.eat(b',') {
                return self.rest.eat(end).then_some(());
            }
        }
    }

    fn key(&mut self) -> Option<String> {
        if matches!(self.rest.peek()?, b'"' | b'\'') {
            return self.string();
        }
        let name = self.name();
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// Text in quotes; there is no backslash in it.
    fn string(&mut self) -> Option<String> {
        let quote = self.rest.bump().filter(|byte| matches!(byte, b'"' | b'\''))?;
        let start = self.rest.at();
        loop {
            match self.rest.peek()? {
                b'\n' => return None,
                byte if byte == quote => {
                    let text = String::from_utf8_lossy(self.rest.since(start)).into_owned();
                    self.rest.bump();
                    return Some(text);
                }
                _ => self.rest.bump(),
            };
        }
    }

    /// `/^a/i`, without a set, in which a slash would not end it.
    fn expression(&mut self) -> Option<()> {
        self.rest.bump();
        loop {
            match self.rest.bump()? {
                b'[' | b'\n' => return None,
                b'/' => break,
                _ => {}
            }
        }
        self.name().bytes().all(|byte| b"gimsu".contains(&byte)).then_some(())
    }

    /// `JSON.stringify`, or one name.
    fn path(&mut self) -> String {
        let mut path = self.name().to_owned();
        while self.rest.peek() == Some(b'.') {
            self.rest.bump();
            path.push('.');
            path.push_str(self.name());
        }
        path
    }

    fn name(&mut self) -> &str {
        let start = self.rest.at();
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
        while self.rest.peek().is_some_and(is_part) {
            self.rest.bump();
        }
        std::str::from_utf8(self.rest.since(start)).unwrap_or_default()
    }

    fn blanks(&mut self, has_lines: bool) {
        let is_blank = |byte: u8| matches!(byte, b' ' | b'\t') || has_lines && byte == b'\n';
        while self.rest.peek().is_some_and(is_blank) {
            self.rest.bump();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::mongo_reads;

    #[test]
    fn only_chains_of_known_calls_read() {
        #[rustfmt::skip]
        let cases = [
            ("db.version()",                                          true,  "a call"),
            ("db.users.countDocuments()",                             true,  "a collection"),
            ("db.users.find({age: {$gt: 30}}).sort({name: -1}).limit(5)", true,  "a query"),
            ("db['my-users'].findOne({_id: ObjectId('5f')})",         true,  "a name in brackets"),
            ("printjson(db.stats())",                                 true,  "printed"),
            ("JSON.stringify(db.users.find().toArray(), null, 2)",    true,  "printed as text"),
            ("show dbs",                                              true,  "a word of the client"),
            ("use app; show collections",                             true,  "two statements"),
            ("db.getSiblingDB('app').getCollectionNames()",           true,  "another database"),
            ("db.adminCommand({ping: 1})",                            true,  "a command that asks"),
            ("db.adminCommand('listDatabases').databases",            true,  "what the answer holds"),
            ("rs.status().members",                                   true,  "the replicas"),
            ("db.logs.find({msg: /^err/i}).forEach(printjson)",       true,  "printed one by one"),
            ("db.o.aggregate([{$match: {a: 1}}, {$group: {_id: '$b', n: {$sum: 1}}}])", true, "a pipeline"),
            ("db.t.find({at: {$gte: new Date('2024-01-01')}}).count()", true,  "a date"),
            ("db.users.deleteMany({})",                               false, "removes"),
            ("db.dropDatabase()",                                     false, "removes"),
            ("db.users.find({$where: 'x'})",                          false, "runs code"),
            ("db.users.find({'$where': 'x'})",                        false, "runs code"),
            ("db.o.aggregate([{$match: {}}, {$out: 'x'}])",           false, "writes"),
            ("db.o.aggregate([{$merge: {into: 'x'}}])",               false, "writes"),
            ("db.adminCommand({shutdown: 1})",                        false, "a command that does not ask"),
            ("db.adminCommand({shutdown: 1, ping: 1})",               false, "the first key names it"),
            ("db.users.find().forEach(u => db.x.insertOne(u))",       false, "a function"),
            ("db.users.find(process.exit())",                         false, "an argument that runs"),
            ("db.users.find({a: require('fs')})",                     false, "an argument that runs"),
            ("process.exit()",                                        false, "another object"),
            ("db.version(); load('x.js')",                            false, "another statement"),
            ("db.version() || quit()",                                false, "an operator"),
            ("db.system.users.find()",                                false, "passwords"),
            ("db.getCollection('sys' + 'tem.users').find()",          false, "an operator in an argument"),
            ("db['\\x73ystem.users'].find()",                         false, "an escape"),
            ("db.users.find(`${quit()}`)",                            false, "a template"),
            ("db.constructor.constructor('x')()",                     false, "a call of a call"),
            ("db.users['find']()",                                    false, "a call by another name"),
            ("db.getMongo()",                                         false, "not in the list"),
            ("x = db.version()",                                      false, "assigns"),
            ("db.users.find = 1",                                     false, "assigns"),
            ("print(db.version()",                                    false, "not closed"),
        ];
        for (text, want, why) in cases {
            assert_eq!(mongo_reads(text.as_bytes()), want, "`{text}`: {why}");
        }
    }
}
