//! Congestion controls in Python: the port of `tcp`, an event a call.

use super::Part;
use plugin::Params;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::fmt;
use tcp::cc::{self, Congestion, CongestionControl, Probe, Recovery, reno};
use units::{BitRate, Bytes, Dur, SimTime};

/// The windows of a sender; see the type stub.
#[pyclass(module = "interlayer._core")]
#[derive(Debug)]
pub struct Window {
    inner: cc::Window,
}

/// A window without a sender, in place of one that was lent.
fn nobodys() -> cc::Window {
    cc::Window::new(Bytes(1), 1, None)
}

/// The most that a window may be, in bytes: a network that holds more is a mistake in the unit.
const MOST: f64 = 1e15;

/// Keeps window and threshold at a segment at least, and the window at `MOST` bytes at most.
fn bound(win: &mut cc::Window) {
    win.cwnd = win.cwnd.clamp(win.mss(), Bytes(MOST as u64));
    win.ssthresh = win.ssthresh.max(win.mss());
}

/// So many bytes, whole ones.
fn bytes(name: &str, value: f64) -> PyResult<Bytes> {
    if (0.0..=MOST).contains(&value) {
        return Ok(Bytes(value as u64));
    }
    Err(PyValueError::new_err(format!("{name} = {value}: expected a number from 0 to {MOST:e}")))
}

#[pymethods]
impl Window {
    #[getter]
    fn cwnd(&self) -> u64 {
        self.inner.cwnd.0
    }

    #[setter]
    fn set_cwnd(&mut self, value: f64) -> PyResult<()> {
        self.inner.cwnd = bytes("cwnd", value)?;
        Ok(())
    }

    #[getter]
    fn ssthresh(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self.inner.ssthresh.0 {
            u64::MAX => Ok(f64::INFINITY.into_pyobject(py)?.into_any().unbind()),
            some => Ok(some.into_pyobject(py)?.into_any().unbind()),
        }
    }

    #[setter]
    fn set_ssthresh(&mut self, value: f64) -> PyResult<()> {
        self.inner.ssthresh = if value == f64::INFINITY { Bytes(u64::MAX) } else { bytes("ssthresh", value)? };
        Ok(())
    }

    #[getter]
    fn mss(&self) -> u64 {
        self.inner.mss().0
    }

    #[getter]
    fn initial(&self) -> u64 {
        self.inner.initial().0
    }

    #[getter]
    fn segments(&self) -> f64 {
        self.inner.segments()
    }

    #[getter]
    fn flight_size(&self) -> u64 {
        self.inner.flight_size().0
    }

    #[getter]
    fn pipe(&self) -> u64 {
        self.inner.pipe().0
    }

    #[getter]
    fn in_recovery(&self) -> bool {
        self.inner.in_recovery()
    }

    #[getter]
    fn in_slow_start(&self) -> bool {
        self.inner.in_slow_start()
    }

    #[getter]
    fn after_timeout_lasts(&self) -> bool {
        self.inner.after_timeout_lasts()
    }

    #[getter]
    fn may_grow(&self) -> bool {
        self.inner.may_grow()
    }

    #[getter]
    fn app_limited(&self) -> bool {
        self.inner.app_limited()
    }

    #[getter]
    fn handshake_rtt_s(&self) -> Option<f64> {
        self.inner.handshake_rtt().map(Dur::as_secs_f64)
    }

    #[getter]
    fn timestamp_tick_s(&self) -> f64 {
        self.inner.timestamp_tick().as_secs_f64()
    }

    #[getter]
    fn byte_counting(&self) -> Option<u8> {
        self.inner.byte_counting()
    }

    #[getter]
    fn slow_start_limit(&self) -> u64 {
        self.inner.slow_start_limit().0
    }

    #[getter]
    fn slow_start_divisor(&self) -> u64 {
        self.inner.slow_start_divisor()
    }

    fn grow(&mut self, size: f64) -> PyResult<()> {
        bytes("growth", size)?;
        self.inner.grow(size);
        Ok(())
    }

    fn slow_start(&mut self, ack: &Ack) {
        reno::slow_start(&ack.0, &mut self.inner);
    }

    #[pyo3(signature = (ack, per_rtt = 1.0))]
    fn additive_increase(&mut self, ack: &Ack, per_rtt: f64) -> PyResult<()> {
        bytes("per_rtt", per_rtt)?;
        reno::additive_increase(&ack.0, per_rtt, &mut self.inner);
        Ok(())
    }

    fn cut_flight_to(&mut self, factor: f64) -> PyResult<()> {
        bytes("factor", factor)?;
        self.inner.cut_flight_to(factor);
        Ok(())
    }

    fn mark_flight_to(&mut self, factor: f64) -> PyResult<()> {
        bytes("factor", factor)?;
        self.inner.mark_flight_to(factor);
        Ok(())
    }

    fn cut_to(&mut self, size: f64) -> PyResult<()> {
        bytes("window", size)?;
        self.inner.cut_to(size);
        Ok(())
    }

    fn mark_to(&mut self, size: f64) -> PyResult<()> {
        bytes("window", size)?;
        self.inner.mark_to(size);
        Ok(())
    }

    fn deflate(&mut self) {
        self.inner.deflate();
    }

    fn mark_app_limited(&mut self) {
        self.inner.mark_app_limited();
    }

    fn __repr__(&self) -> String {
        let ssthresh = match self.inner.ssthresh.0 {
            u64::MAX => "inf".to_owned(),
            some => some.to_string(),
        };
        format!("<Window cwnd={} ssthresh={ssthresh} mss={}>", self.inner.cwnd.0, self.inner.mss().0)
    }
}

/// One acknowledgment; see the type stub.
#[pyclass(frozen, module = "interlayer._core")]
#[derive(Debug)]
pub struct Ack(tcp::Ack);

#[pymethods]
impl Ack {
    #[getter]
    fn now_ns(&self) -> u64 {
        self.0.now.ns()
    }

    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    #[getter]
    fn number(&self) -> u32 {
        self.0.number.0
    }

    #[getter]
    fn next(&self) -> u32 {
        self.0.next().0
    }

    #[getter]
    fn acked(&self) -> u64 {
        self.0.acked.0
    }

    #[getter]
    fn counted(&self) -> u64 {
        self.0.counted.0
    }

    #[getter]
    fn prior_flight(&self) -> u64 {
        self.0.prior_flight.0
    }

    #[getter]
    fn rtt_ns(&self) -> Option<u64> {
        self.0.rtt.map(Dur::ns)
    }

    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.0.rtt.map(Dur::as_secs_f64)
    }

    #[getter]
    fn duplicate(&self) -> bool {
        self.0.duplicate
    }

    #[getter]
    fn local(&self) -> bool {
        self.0.local
    }

    #[getter]
    fn ece(&self) -> bool {
        self.0.flags.has(wire::Flags::ECE)
    }

    #[getter]
    fn sacked(&self) -> u64 {
        self.0.sacked.0
    }

    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost.0
    }

    #[getter]
    fn rate(&self) -> Option<RateSample> {
        self.0.rate.map(RateSample)
    }

    #[getter]
    fn timestamps(&self) -> Option<(u32, u32)> {
        self.0.timestamps
    }

    fn __repr__(&self) -> String {
        format!("<Ack number={} acked={} now_ns={}>", self.0.number.0, self.0.acked.0, self.0.now.ns())
    }
}

/// A sample of the delivery rate, told by an ACK; see the type stub.
#[pyclass(frozen, module = "interlayer._core")]
#[derive(Debug)]
pub struct RateSample(tcp::RateSample);

#[pymethods]
impl RateSample {
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered.0
    }

    #[getter]
    fn interval_ns(&self) -> u64 {
        self.0.interval.ns()
    }

    #[getter]
    fn prior_delivered(&self) -> u64 {
        self.0.prior_delivered.0
    }

    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }

    #[getter]
    fn bps(&self) -> Option<u64> {
        self.0.rate().map(BitRate::bps)
    }
}

/// A method of the user's object that is called while the run lasts.
type Method = Option<Py<PyAny>>;

/// A controller whose decisions a Python object makes.
struct Controller {
    part: &'static Part,
    object: Py<PyAny>,
    /// Holds the sender's windows while a method runs.
    window: Py<Window>,
    on_ack: Method,
    on_congestion: Method,
    on_sent: Method,
    on_dup_ack: Method,
    on_idle_restart: Method,
    on_recovered: Method,
    on_undo: Method,
    pacing_rate: Method,
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("part", &self.part.info.id).finish_non_exhaustive()
    }
}

/// Makes the controller of one end of a connection.
pub(super) fn make(params: &Params) -> Box<dyn CongestionControl> {
    let part: &'static Part = params.context().expect("parts are registered with themselves");
    let made = Python::attach(|py| {
        let object = part.make(py, params, None)?;
        let method = |name: &str| part.has(name).then(|| object.getattr(name).map(Bound::unbind)).transpose();
        PyResult::Ok(Controller {
            part,
            window: Py::new(py, Window { inner: nobodys() })?,
            on_ack: method("on_ack")?,
            on_congestion: method("on_congestion")?,
            on_sent: method("on_sent")?,
            on_dup_ack: method("on_dup_ack")?,
            on_idle_restart: method("on_idle_restart")?,
            on_recovered: method("on_recovered")?,
            on_undo: method("on_undo")?,
            pacing_rate: method("pacing_rate")?,
            object: object.unbind(),
        })
    });
    Box::new(made.unwrap_or_else(|error| part.fail("__init__", error)))
}

impl Controller {
    /// Lends the windows to Python while `call` runs.
    fn lend(
        &self,
        method: &'static str,
        win: &mut cc::Window,
        call: impl for<'py> FnOnce(Python<'py>, &Bound<'py, Window>) -> PyResult<()>,
    ) {
        let result = Python::attach(|py| {
            let window = self.window.bind(py);
            std::mem::swap(&mut window.borrow_mut().inner, win);
            let result = call(py, window);
            std::mem::swap(&mut window.borrow_mut().inner, win);
            result
        });
        if let Err(error) = result {
            self.part.fail(method, error);
        }
        bound(win);
    }
}

/// The word for why a window is cut.
fn why(what: Congestion) -> &'static str {
    match what {
        Congestion::FastRetransmit => "fast-retransmit",
        Congestion::EcnMark => "ecn-mark",
        Congestion::Rto { repeated: false } => "timeout",
        Congestion::Rto { repeated: true } => "repeated-timeout",
    }
}

impl CongestionControl for Controller {
    fn on_ack(&mut self, ack: &tcp::Ack, win: &mut cc::Window) {
        if let Some(method) = &self.on_ack {
            self.lend("on_ack", win, |py, window| method.bind(py).call1((Ack(*ack), window)).map(drop));
        }
    }

    fn on_congestion(&mut self, what: Congestion, win: &mut cc::Window) {
        if let Some(method) = &self.on_congestion {
            self.lend("on_congestion", win, |py, window| method.bind(py).call1((why(what), window)).map(drop));
        }
    }

    fn on_sent(&mut self, now: SimTime, bytes: Bytes, win: &mut cc::Window) {
        if let Some(method) = &self.on_sent {
            self.lend("on_sent", win, |py, window| method.bind(py).call1((now.ns(), bytes.0, window)).map(drop));
        }
    }

    fn on_dup_ack(&mut self, ack: &tcp::Ack, win: &mut cc::Window) {
        if let Some(method) = &self.on_dup_ack {
            self.lend("on_dup_ack", win, |py, window| method.bind(py).call1((Ack(*ack), window)).map(drop));
        }
    }

    fn on_idle_restart(&mut self, win: &mut cc::Window) {
        match &self.on_idle_restart {
            None => win.cwnd = win.cwnd.min(win.initial()),
            Some(method) => {
                self.lend("on_idle_restart", win, |py, window| method.bind(py).call1((window,)).map(drop));
            }
        }
    }

    fn on_recovered(&mut self, win: &mut cc::Window) {
        match &self.on_recovered {
            None => {
                win.deflate();
                bound(win);
            }
            Some(method) => self.lend("on_recovered", win, |py, window| method.bind(py).call1((window,)).map(drop)),
        }
    }

    fn on_undo(&mut self, win: &mut cc::Window) {
        if let Some(method) = &self.on_undo {
            self.lend("on_undo", win, |py, window| method.bind(py).call1((window,)).map(drop));
        }
    }

    fn needs_rate(&self) -> bool {
        self.part.needs_rate
    }

    fn needs_rtt(&self) -> bool {
        self.part.needs_rtt
    }

    fn owns_window(&self) -> bool {
        self.part.owns_window
    }

    fn recovery(&self) -> Recovery {
        self.part.recovery
    }

    fn pacing_rate(&self, win: &cc::Window) -> Option<BitRate> {
        let method = self.pacing_rate.as_ref()?;
        let rate = Python::attach(|py| {
            let window = Bound::new(py, Window { inner: win.clone() })?;
            let Some(bps) = method.bind(py).call1((window,))?.extract::<Option<f64>>()? else { return Ok(None) };
            if bps.is_finite() && bps >= 1.0 {
                return Ok(Some(BitRate::from_bps(bps as u64)));
            }
            Err(PyValueError::new_err(format!("{bps} is no rate in bits per second; None is no pacing")))
        });
        rate.unwrap_or_else(|error| self.part.fail("pacing_rate", error))
    }

    fn probe(&self, out: &mut dyn Probe) {
        if self.part.gauges.is_empty() {
            return;
        }
        let read = Python::attach(|py| {
            for ((attribute, unit), name) in self.part.gauges.iter().zip(&self.part.gauge_names) {
                let value: Option<f64> = self.object.bind(py).getattr(*attribute)?.extract()?;
                out.gauge(name, unit, value.unwrap_or(f64::NAN));
            }
            PyResult::Ok(())
        });
        read.unwrap_or_else(|error| self.part.fail("gauges", error));
    }
}
