//! The outlet: standard output, buffered, that stays calm when nobody reads on.

use std::io::{self, BufWriter, ErrorKind, Write};

/// Says something on standard error, to whoever still listens there.
macro_rules! aside {
    ($($text:tt)*) => {{
        let _ = std::io::Write::write_fmt(
            &mut std::io::stderr().lock(),
            format_args!("{}\n", format_args!($($text)*)),
        );
    }};
}
pub(crate) use aside;

/// A writer that lets what it is given fall once its reader is gone, as in `portcullis … | head`.
/// The answer is then still the exit code's to give.
pub struct Outlet<W: Write> {
    inner: BufWriter<W>,
    is_closed: bool,
}

impl<W: Write> Outlet<W> {
    /// Writes to `inner`, in larger pieces.
    pub fn new(inner: W) -> Outlet<W> {
        Outlet { inner: BufWriter::new(inner), is_closed: false }
    }

    fn calm(&mut self, done: io::Result<()>) -> io::Result<()> {
        match done {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.is_closed = true;
                Ok(())
            }
            done => done,
        }
    }
}

impl<W: Write> Write for Outlet<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_closed {
            let done = self.inner.write_all(bytes);
            self.calm(done)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let done = self.inner.flush();
        self.calm(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe whose reader is gone, or a full disk.
    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_went_away_is_no_error() {
        let mut outlet = Outlet::new(Broken(ErrorKind::BrokenPipe));
        outlet.write_all(&vec![b'x'; 100_000]).unwrap();
        outlet.flush().unwrap();
    }

    #[test]
    fn a_full_disk_is_one() {
        let mut outlet = Outlet::new(Broken(ErrorKind::StorageFull));
        outlet.write_all(b"x").unwrap();
        assert!(outlet.flush().is_err());
    }
}
