//! A recorded run: time and bytes of every packet read and written and of every change, as pcapng, which Wireshark reads.
//!
//! Each host has two interfaces, `NAME` for what it sends and `NAME gets` for what it is given; a third kind, `interlayer`, has lines of
//! text: the first names the seed, the last says that the run is over, the others are changes. Times are model time.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use units::SimTime;
use wire::pcapng::{Capture, Description, Interface, LinkType, PcapngError, Writer};

/// For private use: lines of text. @PCAPNG sec. 4.2, tcpdump.org/linktypes
const TEXT: LinkType = LinkType(147);

/// The name of the interface with lines of text.
const LINES: &str = "interlayer";

/// The end of the name of an interface with what a host is given.
const GETS: &str = " gets";

/// The last line.
const END: &str = "end";

/// Bytes that wait before they are written to the file: a write takes no longer than some 100 us.
const BUFFER: usize = 1 << 16;

/// A recording being written.
#[derive(Debug)]
pub struct Recorder {
    to: Writer<BufWriter<File>>,
    lines: Interface,
    /// Of each host: what it sends, what it gets.
    hosts: Vec<[Interface; 2]>,
}

impl Recorder {
    /// Begins a recording of hosts with these names.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: &Path, seed: u64, hosts: &[&str]) -> io::Result<Recorder> {
        let file = BufWriter::with_capacity(BUFFER, File::create(path)?);
        let mut to = Writer::new(file, Some("interlayer live"))?;
        let lines = to.interface(Description::new(LINES, TEXT))?;
        let pair = |name: &&str| {
            let gets = format!("{name}{GETS}");
            Ok([
                to.interface(Description::new(name, LinkType::RAW_IP))?,
                to.interface(Description::new(&gets, LinkType::RAW_IP))?,
            ])
        };
        let hosts = hosts.iter().map(pair).collect::<io::Result<Vec<_>>>()?;
        let mut recorder = Recorder { to, lines, hosts };
        recorder.line(SimTime::ZERO, &format!("seed {seed}"))?;
        Ok(recorder)
    }

    /// A host, by its place among the names, has sent a packet.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn sent(&mut self, host: usize, at: SimTime, bytes: &[u8]) -> io::Result<()> {
        self.to.packet(self.hosts[host][0], at, bytes, None)
    }

    /// A host is given a packet.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn got(&mut self, host: usize, at: SimTime, bytes: &[u8]) -> io::Result<()> {
        self.to.packet(self.hosts[host][1], at, bytes, None)
    }

    /// Something was changed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn line(&mut self, at: SimTime, text: &str) -> io::Result<()> {
        self.to.packet(self.lines, at, text.as_bytes(), None)
    }

    /// Ends the recording: the run was over at `at`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self, at: SimTime) -> io::Result<()> {
        self.line(at, END)?;
        self.to.finish().map(|_| ())
    }
}

/// The reason why a file is no recorded run.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// No capture file.
    #[error(transparent)]
    Capture(#[from] PcapngError),
    /// A capture of something else.
    #[error("no recording of `interlayer live`: {0}")]
    Other(String),
}

/// Something that a recorded run has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    Sent(&'a str, &'a [u8]),
    Got(&'a str, &'a [u8]),
    Line(&'a str),
}

/// A recorded run: its seed, its end, and its events in their order.
#[derive(Debug)]
pub(crate) struct Recorded<'a> {
    pub seed: u64,
    pub end: SimTime,
    pub events: Vec<(SimTime, Event<'a>)>,
}

impl<'a> Recorded<'a> {
    /// Reads a recording.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn read(bytes: &'a [u8]) -> Result<Recorded<'a>, RecordError> {
        let Capture { interfaces, packets } = Capture::read(bytes)?;
        let text = |bytes: &'a [u8]| {
            std::str::from_utf8(bytes).map_err(|_| RecordError::Other("a line is no text".to_owned()))
        };
        let names = interfaces
            .iter()
            .map(|interface| text(interface.name.unwrap_or_default()))
            .collect::<Result<Vec<_>, _>>()?;
        let (mut seed, mut end, mut events) = (None, None, Vec::new());
        for packet in packets {
            let name = names[packet.interface];
            let event = if interfaces[packet.interface].link_type == TEXT {
                let line = text(packet.bytes)?;
                if let (None, Some(number)) = (seed, line.strip_prefix("seed ")) {
                    seed = number.parse().ok();
                    continue;
                }
                if line == END {
                    end = Some(packet.at);
                    continue;
                }
                Event::Line(line)
            } else if let Some(host) = name.strip_suffix(GETS) {
                Event::Got(host, packet.bytes)
            } else {
                Event::Sent(name, packet.bytes)
            };
            events.push((packet.at, event));
        }
        let seed = seed.ok_or_else(|| RecordError::Other("it does not begin with a seed".to_owned()))?;
        let end = end.ok_or_else(|| RecordError::Other("it has no end, so it was cut short".to_owned()))?;
        Ok(Recorded { seed, end, events })
    }
}
