//! A blocking client for one request over TCP or a socket of this machine: just enough HTTP/1.1,
//! and nothing taken on trust.
//!
//! An answer counts only if its length is said and all of it came.

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::watched::Watch;

/// The longest answer that is read.
const MOST_BYTES: usize = 8 << 20;

/// Most answers are not longer than this.
const MOST_USUAL: usize = 2 << 10;

/// The longest head of an answer.
const MOST_HEAD: usize = 64 << 10;

/// Connects to a socket of this machine within a limit: one whose queue is full would hold for ever.
pub type Dial = fn(&Path, Duration) -> io::Result<UnixStream>;

/// Where requests go.
#[derive(Clone)]
pub struct Server {
    authority: String,
    prefix: String,
    socket: Option<(PathBuf, Dial)>,
}

/// What came back.
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The body, whole.
    pub body: Vec<u8>,
}

/// Why nothing did.
#[derive(Debug, PartialEq, Eq)]
pub enum Trouble {
    /// No connection.
    Unreachable,
    /// It took too long.
    Late,
    /// The connection ended before the answer did.
    Lost,
    /// It is no HTTP, or not whole.
    Broken,
}

impl Server {
    /// The server behind a URL; the message says what is wrong with it.
    pub fn of_url(url: &str) -> Result<Server, &'static str> {
        if url.starts_with("https://") {
            return Err("it says https, which this hook does not speak; use http");
        }
        let rest = url.strip_prefix("http://").ok_or("it is no http URL")?;
        let (authority, prefix) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte);
        let is_path = |byte: u8| byte.is_ascii_graphic() && !b"?#".contains(&byte);
        let holds =
            !authority.is_empty() && authority.bytes().all(is_plain) && prefix.bytes().all(is_path);
        if !holds {
            return Err("it is no http URL");
        }
        let prefix = prefix.trim_end_matches('/').to_owned();
        Ok(Server { authority: authority.to_owned(), prefix, socket: None })
    }

    /// The server behind a socket of this machine.
    pub fn of_socket(path: &Path, dial: Dial) -> Server {
        let socket = Some((path.to_owned(), dial));
        Server { authority: "portcullis".to_owned(), prefix: String::new(), socket }
    }

    /// Sends one request and reads the answer, all within `limit`.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        key: &str,
        body: &str,
        limit: Duration,
    ) -> Result<Reply, Trouble> {
        let end = Instant::now() + limit;
        let connection = Connection { stream: self.connect(end)?, end, watch: None };
        self.say(connection, method, path, Some(key), body)?.hear()
    }

    /// Sends one request over a connection before `end`; the answer is still to be heard.
    pub fn say<'a>(
        &self,
        connection: Connection<'a>,
        method: &str,
        path: &str,
        key: Option<&str>,
        body: &str,
    ) -> Result<Said<'a>, Trouble> {
        // INVARIANT: a key with a line end would be a header of its own; it is refused before.
        let key = key.map_or_else(String::new, |key| format!("Authorization: Bearer {key}\r\n"));
        let mut request = format!(
            "{method} {}{path} HTTP/1.1\r\nHost: {}\r\n{key}\
             Content-Type: application/json\r\nContent-Length: {}\r\n\
             X-Portcullis-Door: hook\r\nConnection: close\r\n\r\n",
            self.prefix,
            self.authority,
            body.len()
        );
        request.push_str(body);
        let mut connection = connection;
        connection.write_all(request.as_bytes()).map_err(cut)?;
        Ok(Said(connection))
    }

    /// A connection, before `end`.
    pub fn connect(&self, end: Instant) -> Result<Stream, Trouble> {
        if let Some((socket, dial)) = &self.socket {
            let left = end.saturating_duration_since(Instant::now());
            let stream = dial(socket, left).map_err(|_| Trouble::Unreachable)?;
            return Ok(Stream::Unix(stream));
        }
        let has_port = self.authority.rsplit_once(':').is_some_and(|(_, port)| {
            !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
        });
        let at = if has_port { self.authority.clone() } else { format!("{}:80", self.authority) };
        let addresses = at.to_socket_addrs().map_err(|_| Trouble::Unreachable)?;
        for address in addresses {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            if let Ok(stream) = TcpStream::connect_timeout(&address, left) {
                return Ok(Stream::Tcp(stream));
            }
        }
        Err(Trouble::Unreachable)
    }
}

/// A connection.
pub enum Stream {
    /// Over the network of this machine.
    Tcp(TcpStream),
    /// Over a socket in the file system.
    Unix(UnixStream),
}

/// A connection on which everything ends at one moment.
pub struct Connection<'a> {
    /// The two ends.
    pub stream: Stream,
    /// The moment.
    pub end: Instant,
    /// Who begins to watch before long waiting; none where somebody does.
    pub watch: Option<&'a Watch>,
}

/// A request that was sent.
pub struct Said<'a>(Connection<'a>);

impl Said<'_> {
    /// Waits for the answer.
    pub fn hear(self) -> Result<Reply, Trouble> {
        read(BufReader::with_capacity(MOST_USUAL, self.0))
    }
}

impl Connection<'_> {
    /// How long may be waited at once.
    fn left(&self) -> io::Result<Option<Duration>> {
        loop {
            let until = self.watch.map_or(self.end, |watch| watch.limit(self.end));
            let left = until.saturating_duration_since(Instant::now());
            match self.watch.filter(|watch| watch.is_alone()) {
                _ if !left.is_zero() => return Ok(Some(left)),
                Some(watch) => begun(watch)?,
                None => return Err(ErrorKind::TimedOut.into()),
            }
        }
    }

    /// What is made of an attempt: where nobody watched and it came to nothing, or a signal came,
    /// somebody watches the next one.
    fn tried(&self, tried: io::Result<usize>) -> io::Result<usize> {
        let pauses = [ErrorKind::WouldBlock, ErrorKind::TimedOut, ErrorKind::Interrupted];
        match (tried, self.watch.filter(|watch| watch.is_alone())) {
            (Err(error), Some(watch)) if pauses.contains(&error.kind()) => {
                begun(watch)?;
                Err(ErrorKind::Interrupted.into())
            }
            (tried, _) => tried,
        }
    }
}

fn begun(watch: &Watch) -> io::Result<()> {
    watch.begin().map_err(|failure| io::Error::other(failure.text))
}

impl Read for Connection<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.left()?;
        let tried = match &mut self.stream {
            Stream::Tcp(stream) => stream.set_read_timeout(left).and_then(|()| stream.read(bytes)),
            Stream::Unix(stream) => stream.set_read_timeout(left).and_then(|()| stream.read(bytes)),
        };
        self.tried(tried)
    }
}

impl Write for Connection<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.left()?;
        let tried = match &mut self.stream {
            Stream::Tcp(stream) => {
                stream.set_write_timeout(left).and_then(|()| stream.write(bytes))
            }
            Stream::Unix(stream) => {
                stream.set_write_timeout(left).and_then(|()| stream.write(bytes))
            }
        };
        self.tried(tried)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.stream {
            Stream::Tcp(stream) => stream.flush(),
            Stream::Unix(stream) => stream.flush(),
        }
    }
}

/// What is said of a connection that is no more.
const LOST: &[ErrorKind] = &[
    ErrorKind::BrokenPipe,
    ErrorKind::ConnectionReset,
    ErrorKind::ConnectionAborted,
    ErrorKind::UnexpectedEof,
];

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn cut(error: io::Error) -> Trouble {
    let is_one_of = |kinds: &[ErrorKind]| kinds.contains(&error.kind());
    if is_one_of(&[ErrorKind::TimedOut, ErrorKind::WouldBlock]) {
        Trouble::Late
    } else if is_one_of(LOST) {
        Trouble::Lost
    } else {
        Trouble::Broken
    }
}

fn read(mut reader: impl BufRead) -> Result<Reply, Trouble> {
    let mut left = MOST_HEAD;
    let status = status(&line(&mut reader, &mut left)?).ok_or(Trouble::Broken)?;
    let (mut length, mut is_chunked) = (None, false);
    loop {
        let header = line(&mut reader, &mut left)?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').ok_or(Trouble::Broken)?;
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            let said = value.parse::<usize>().map_err(|_| Trouble::Broken)?;
            if length.replace(said).is_some_and(|before| before != said) {
                return Err(Trouble::Broken);
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            is_chunked = value.eq_ignore_ascii_case("chunked");
            if !is_chunked {
                return Err(Trouble::Broken);
            }
        }
    }
    let body = match (is_chunked, length) {
        (true, None) => chunks(&mut reader)?,
        (false, Some(length)) => exactly(&mut reader, length)?,
        // Both lengths could mean two bodies; no length could be half of one.
        (true, Some(_)) | (false, None) => return Err(Trouble::Broken),
    };
    Ok(Reply { status, body })
}

fn status(line: &str) -> Option<u16> {
    let rest = line.strip_prefix("HTTP/1.1 ").or_else(|| line.strip_prefix("HTTP/1.0 "))?;
    rest.get(..3)?.parse().ok()
}

/// The next line of the head, without its end.
fn line(reader: &mut impl BufRead, left: &mut usize) -> Result<String, Trouble> {
    let mut bytes = Vec::new();
    let most = u64::try_from(*left).unwrap_or(0);
    reader.by_ref().take(most).read_until(b'\n', &mut bytes).map_err(cut)?;
    *left -= bytes.len();
    if bytes.is_empty() {
        return Err(Trouble::Lost);
    }
    if bytes.pop() != Some(b'\n') {
        return Err(Trouble::Broken);
    }
    bytes.pop_if(|byte| *byte == b'\r');
    String::from_utf8(bytes).map_err(|_| Trouble::Broken)
}

fn exactly(reader: &mut impl Read, length: usize) -> Result<Vec<u8>, Trouble> {
    if length > MOST_BYTES {
        return Err(Trouble::Broken);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).map_err(cut)?;
    Ok(body)
}

fn chunks(reader: &mut impl BufRead) -> Result<Vec<u8>, Trouble> {
    let mut body = Vec::new();
    loop {
        let mut left = MOST_HEAD;
        let size = line(reader, &mut left)?;
        let size = size.split(';').next().unwrap_or_default().trim();
        let is_hex = !size.is_empty() && size.bytes().all(|byte| byte.is_ascii_hexdigit());
        let size = usize::from_str_radix(size, 16).ok().filter(|_| is_hex);
        let size = size.ok_or(Trouble::Broken)?;
        if size > MOST_BYTES || body.len() + size > MOST_BYTES {
            return Err(Trouble::Broken);
        }
        if size == 0 {
            while !line(reader, &mut left)?.is_empty() {}
            return Ok(body);
        }
        body.extend(exactly(reader, size)?);
        if !line(reader, &mut left)?.is_empty() {
            return Err(Trouble::Broken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_only_if_it_is_whole() {
        #[rustfmt::skip]
        let cases: &[(&str, Option<&str>)] = &[
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",                                 Some("{}")),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x\r\n}\r\n0\r\n\r\n", Some("{}")),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",                                 None),
            ("HTTP/1.1 200 OK\r\n\r\n{}",                                                      None),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 1\r\n\r\n{}",            None),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",   None),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",               None),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n",     None),
            ("SSH-2.0-OpenSSH\r\n",                                                            None),
            ("",                                                                               None),
        ];
        for (text, want) in cases {
            let got = read(text.as_bytes()).ok().map(|reply| reply.body);
            assert_eq!(got.as_deref(), want.map(str::as_bytes), "{text:?}");
        }
    }

    #[test]
    fn a_url_is_a_host_a_port_and_a_path() {
        let holds = |url: &str| Server::of_url(url).is_ok();
        assert!(holds("http://localhost:3001") && holds("http://gate/portcullis/"));
        assert!(!holds("https://gate") && !holds("gate:1") && !holds("http://"));
        assert!(!holds("http://gate\r\nX: y") && !holds("http://gate/a b"));
    }
}
