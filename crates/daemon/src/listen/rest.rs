//! The rest of a body: what a request still sends when its answer is ready.
//!
//! Many clients send the head first and the body after it, so a refusal may be ready before the
//! body has come. Left unread it would cost the connection, and whoever sends the next request
//! over it would hear nothing. So the rest is read and thrown away, within limits; what goes
//! beyond them is told with the answer that the connection ends.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderValue, Request, header};
use axum::response::Response;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tower::ServiceExt;

use crate::router::MOST_CALL_BYTES;

/// So much is thrown away before a connection is given up.
const MOST_REST: usize = 2 * MOST_CALL_BYTES;

/// How long the rest may take.
const REST_TIME: Duration = Duration::from_secs(1);

/// Where a body comes back to that nobody read to its end.
type Place = Arc<Mutex<Option<Incoming>>>;

/// A body that comes back.
struct Lent {
    body: Option<Incoming>,
    place: Place,
}

/// Answers a request and takes the rest of its body off the connection.
pub(super) async fn answer(
    router: Router,
    request: Request<Incoming>,
) -> Result<Response, Infallible> {
    if request.body().is_end_stream() {
        return router.oneshot(request.map(axum::body::Body::new)).await;
    }
    // Such a client sends nothing before it is told to.
    let waits = request.headers().contains_key(header::EXPECT);
    let place = Place::default();
    let lent = |body| Lent { body: Some(body), place: Arc::clone(&place) };
    let request = request.map(|body| axum::body::Body::new(lent(body)));
    let mut response = router.oneshot(request).await?;
    let rest = place.lock().ok().and_then(|mut place| place.take());
    if let Some(rest) = rest
        && (waits || !is_drained(rest).await)
    {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(response)
}

/// Reads a body to its end and throws it away, if it ends soon.
async fn is_drained(mut body: Incoming) -> bool {
    let read = async {
        let mut left = MOST_REST;
        while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await
        {
            let Ok(frame) = frame else { return false };
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            let Some(rest) = left.checked_sub(bytes) else { return false };
            left = rest;
        }
        true
    };
    tokio::time::timeout(REST_TIME, read).await.unwrap_or(false)
}

impl Body for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let body = self.body.as_mut();
        body.map_or(Poll::Ready(None), |body| Pin::new(body).poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let rest = self.body.take().filter(|body| !body.is_end_stream());
        if let (Some(rest), Ok(mut place)) = (rest, self.place.lock()) {
            *place = Some(rest);
        }
    }
}
