//! The gate in front of one route, as a layer around what answers.
//!
//! Whether a request is let in is known without waiting: what answers is asked at once, and one
//! future is made for all of it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::response::Response;
use tower::{Layer, Service};
use tracing::{Instrument, field, info_span};

use super::{Route, Visit, admit, shut_out};
use crate::App;
use crate::identity::Caller;
use crate::refusals::Refused;
use crate::traces;

/// The gate of a route; clones are the same.
#[derive(Clone)]
pub(super) struct Gate(Arc<(App, Arc<Route>)>);

impl Gate {
    /// The gate in front of a route.
    pub(super) fn new(app: &App, route: &Arc<Route>) -> Gate {
        Gate(Arc::new((app.clone(), Arc::clone(route))))
    }
}

impl<S> Layer<S> for Gate {
    type Service = Gated<S>;

    fn layer(&self, inner: S) -> Gated<S> {
        Gated { gate: self.clone(), inner }
    }
}

/// What answers, behind its gate.
#[derive(Clone)]
pub(super) struct Gated<S> {
    gate: Gate,
    inner: S,
}

impl<S> Service<Request> for Gated<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    /// Lets a request through to its route, or says why not.
    fn call(&mut self, mut request: Request) -> Self::Future {
        let gate = self.gate.clone();
        let (app, route) = &*gate.0;
        // A HEAD is answered by the handler of GET.
        let method = request.method().clone();
        // The path as the table has it: what stands in an address is nobody's to log.
        let span = info_span!(
            "request",
            %method,
            route = route.path,
            status = field::Empty,
            traceparent = traces::parent(request.headers())
        );
        let (answer, key) = match admit(app, route, &request) {
            Ok(caller) => {
                let key = caller.as_ref().map(|Caller { key, .. }| Arc::clone(key));
                if let Some(visit) = request.extensions_mut().get_mut::<Visit>() {
                    visit.route = Some(Arc::clone(route));
                    visit.caller = caller;
                }
                (Ok(span.in_scope(|| self.inner.call(request))), key)
            }
            Err(shut) => (Err(shut_out(route, shut, request.headers())), None),
        };
        Box::pin(async move {
            let (app, route) = &*gate.0;
            let response = match answer {
                Ok(answer) => answer.instrument(span.clone()).await?,
                Err(refusal) => refusal,
            };
            let actor = key.as_ref().map(|key| key.name.as_str());
            let status = response.status();
            span.record("status", status.as_u16());
            span.in_scope(|| tracing::debug!(actor, "answered"));
            if status.is_client_error() {
                let actor = actor.map(str::to_owned);
                app.refusals.note(Refused::new(&method, route.path, status, actor));
            }
            Ok(response)
        })
    }
}
