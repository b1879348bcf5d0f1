//! What a client of Socket.IO sends, by polling or as messages of a WebSocket, is read to the
//! envelope inside or refused: by the crates that the Multica door hands it to, and by us.

use bytes::Bytes;
use engineioxide_core::{Packet, ProtocolVersion, payload};
use futures_util::{FutureExt, StreamExt};
use http_body_util::Full;
use portcullis_wire::dialects::multica::Envelope;
use serde_json::Value;
use socketioxide_core::packet::PacketData;
use socketioxide_core::parser::{Parse, ParseConfig, ParserState};
use socketioxide_parser_common::CommonParser;

/// What the door lets a client send at once.
const MOST_BYTES: u64 = 1 << 20;
const MOST_BINARIES: usize = 1;

/// Tries one input.
///
/// # Panics
/// If what must hold does not hold for it.
pub fn try_input(data: &[u8]) {
    let Some((&how, rest)) = data.split_first() else { return };
    // Neighbours: one connection reads them one after the other.
    let connection = Connection::new();
    if how & 1 == 0 {
        for packet in polled(rest) {
            connection.take(packet);
        }
    } else {
        for frame in rest.split(|byte| *byte == 0x1e) {
            match String::from_utf8(frame.to_vec()) {
                Ok(text) => {
                    if let Ok(packet) = Packet::parse(ProtocolVersion::V4, text) {
                        connection.take(packet);
                    }
                }
                Err(bytes) => connection.take(Packet::Binary(bytes.into_bytes().into())),
            }
        }
    }
}

/// The packets of one request of a client that polls.
fn polled(body: &[u8]) -> Vec<Packet> {
    let body: Full<Bytes> = Full::new(Bytes::copy_from_slice(body));
    let packets = payload::decoder(body, None, ProtocolVersion::V4, MOST_BYTES);
    let read = packets.filter_map(async |packet| packet.ok()).collect::<Vec<Packet>>();
    read.now_or_never().expect("a body that is there is read without waiting")
}

/// One conversation, which remembers a packet whose bytes are still to come.
struct Connection {
    config: ParseConfig,
    state: ParserState,
}

impl Connection {
    fn new() -> Connection {
        let config = ParseConfig { max_incoming_binaries: MOST_BINARIES, ..ParseConfig::default() };
        Connection { config, state: ParserState::default() }
    }

    fn take(&self, packet: Packet) {
        let read = match packet {
            Packet::Message(text) => CommonParser.decode_str(&self.config, &self.state, text),
            Packet::Binary(bytes) => CommonParser.decode_bin(&self.config, &self.state, bytes),
            _ => return,
        };
        let Ok(mut packet) = read else { return };
        let value = match &mut packet.inner {
            PacketData::Event(value, _) | PacketData::BinaryEvent(value, _) => value,
            PacketData::EventAck(value, _) | PacketData::BinaryAck(value, _) => value,
            PacketData::Connect(value) => {
                let said: Result<Value, _> = CommonParser.decode_default(value.as_ref());
                std::hint::black_box(said.is_ok());
                return;
            }
            _ => return,
        };
        let name = CommonParser.read_event(value).map(str::to_owned);
        std::hint::black_box(name.is_ok());
        let event: Result<Value, _> = CommonParser.decode_value(value, true);
        if let Ok(event) = event {
            std::hint::black_box(Envelope::of(event).is_ok());
        }
    }
}
