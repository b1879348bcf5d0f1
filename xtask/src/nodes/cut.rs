//! The way from one node to the database, which can be cut: nothing comes through, everything is
//! refused, or all of it takes its time. It stands for a network that fails, without the rights
//! that changing one takes ([`super::network`] is the real one).

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

const WELL: u8 = 0;
const HELD: u8 = 1;
const REFUSED: u8 = 2;
const SLOW: u8 = 3;

/// So long everything takes on a slow way.
const SLOWNESS: Duration = Duration::from_millis(60);

/// How often a held way looks whether it may go on.
const LOOK: Duration = Duration::from_millis(5);

/// The way of one node.
pub struct Cut {
    state: Arc<AtomicU8>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
    /// Where the node finds the database.
    pub address: SocketAddr,
}

impl Cut {
    /// A way to a port of this machine.
    pub fn to(port: u16) -> anyhow::Result<Cut> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (state, streams) = (Arc::new(AtomicU8::new(WELL)), Arc::default());
        let cut = Cut { state: Arc::clone(&state), streams: Arc::clone(&streams), address };
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                if state.load(Ordering::Relaxed) == REFUSED {
                    continue;
                }
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else { continue };
                carry(&near, &far, &state, &streams);
            }
        });
        Ok(cut)
    }

    /// Nothing comes through any more, and nobody is told.
    pub fn hold(&self) {
        self.state.store(HELD, Ordering::Relaxed);
    }

    /// Every connection ends, and new ones are refused.
    pub fn refuse(&self) {
        self.state.store(REFUSED, Ordering::Relaxed);
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        for stream in streams.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Everything takes its time.
    pub fn slow(&self) {
        self.state.store(SLOW, Ordering::Relaxed);
    }

    /// All is well again.
    pub fn heal(&self) {
        self.state.store(WELL, Ordering::Relaxed);
    }
}

fn carry(
    near: &TcpStream,
    far: &TcpStream,
    state: &Arc<AtomicU8>,
    streams: &Mutex<Vec<TcpStream>>,
) {
    for (from, to) in [(near, far), (far, near)] {
        let _ = from.set_nodelay(true);
        let (Ok(mut from), Ok(mut to)) = (from.try_clone(), to.try_clone()) else { return };
        let state = Arc::clone(state);
        if let Ok(own) = from.try_clone() {
            streams.lock().unwrap_or_else(PoisonError::into_inner).push(own);
        }
        std::thread::spawn(move || {
            let mut buffer = vec![0; 16 * 1024];
            while let Ok(count @ 1..) = from.read(&mut buffer) {
                while state.load(Ordering::Relaxed) == HELD {
                    std::thread::sleep(LOOK);
                }
                if state.load(Ordering::Relaxed) == SLOW {
                    std::thread::sleep(SLOWNESS);
                }
                let Some(bytes) = buffer.get(..count) else { break };
                if to.write_all(bytes).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Both);
            let _ = from.shutdown(Shutdown::Both);
        });
    }
}
