//! What handlers take out of requests: bodies within their limit, queries, and who calls.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use futures_util::StreamExt;
use portcullis_wire::errors::{Code, Error};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::App;
use crate::error::ApiError;
use crate::identity::Caller;
use crate::router::Visit;

/// How long a client may take to send a body.
const BODY_TIME: Duration = Duration::from_secs(30);

/// Bodies up to this length are always read.
const SMALL_BODY: usize = 64 << 10;

/// So many bytes of longer bodies are held at once: whoever sends more waits for a place.
const MOST_HELD: usize = 128 << 20;

/// Places for longer bodies, a kibibyte each.
static HELD: Semaphore = Semaphore::const_new(MOST_HELD >> 10);

/// The bytes of a body, not longer than its route takes.
pub struct Bytes(pub axum::body::Bytes);

/// Why a body could not be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadBody {
    /// It is longer than the route takes.
    TooLarge,
    /// It did not come whole, or not in time.
    Broken,
}

impl From<BadBody> for ApiError {
    fn from(bad: BadBody) -> ApiError {
        match bad {
            BadBody::TooLarge => Error::new(Code::TooLarge, "the body is too large").into(),
            BadBody::Broken => ApiError::new(
                StatusCode::REQUEST_TIMEOUT,
                Code::InvalidRequest,
                "the body did not come whole",
            ),
        }
    }
}

impl axum::response::IntoResponse for BadBody {
    fn into_response(self) -> axum::response::Response {
        ApiError::from(self).into_response()
    }
}

/// The name that stands in the path of a request.
///
/// What is no text names nothing: the route answers that as it does any name it does not know.
pub struct Named(pub String);

/// A name that nothing has: no name holds a control character.
const NOBODY: &str = "\0";

impl FromRequestParts<App> for Named {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Named, Infallible> {
        let path = Path::<String>::from_request_parts(parts, app).await;
        Ok(Named(path.map_or_else(|_| NOBODY.to_owned(), |Path(name)| name)))
    }
}

impl FromRequest<App> for Bytes {
    type Rejection = BadBody;

    async fn from_request(request: Request, _: &App) -> Result<Bytes, BadBody> {
        let visit = request.extensions().get::<Visit>();
        let most = visit.and_then(|visit| visit.route.as_ref()).map_or(0, |route| route.most_bytes);
        let read = read(request.into_body(), most);
        tokio::time::timeout(BODY_TIME, read).await.unwrap_or(Err(BadBody::Broken))
    }
}

/// Reads a body. A long one takes its place among those that are held until nobody needs its
/// bytes any more.
async fn read(body: Body, most: usize) -> Result<Bytes, BadBody> {
    let hint = body.size_hint();
    if hint.lower() > u64::try_from(most).unwrap_or(u64::MAX) {
        // Whoever still sends does not listen: it is taken in and kept nowhere, up to the limit.
        let mut pieces = body.into_data_stream();
        let mut left = most;
        while let Some(Ok(piece)) = pieces.next().await {
            let Some(rest) = left.checked_sub(piece.len()) else { break };
            left = rest;
        }
        return Err(BadBody::TooLarge);
    }
    let longest = hint.upper().and_then(|upper| usize::try_from(upper).ok()).unwrap_or(most);
    let longest = longest.min(most);
    let place = if longest > SMALL_BODY {
        let kibibytes = u32::try_from(longest.div_ceil(1 << 10)).unwrap_or(u32::MAX);
        HELD.acquire_many(kibibytes).await.ok()
    } else {
        None
    };
    let bytes = axum::body::to_bytes(body, most).await.map_err(|error| {
        let is_limit = std::error::Error::source(&error)
            .is_some_and(|source| source.to_string().contains("length limit"));
        if is_limit { BadBody::TooLarge } else { BadBody::Broken }
    })?;
    Ok(Bytes(match place {
        Some(place) => axum::body::Bytes::from_owner(Held { bytes, _place: place }),
        None => bytes,
    }))
}

/// The bytes of a long body, with the place they take.
struct Held {
    bytes: axum::body::Bytes,
    _place: SemaphorePermit<'static>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Caller, ApiError> {
        let visit = parts.extensions.get::<Visit>();
        visit.and_then(|visit| visit.caller.clone()).ok_or_else(ApiError::unauthorized)
    }
}

/// The parameters of an address, each at most once and all known.
pub struct Query(Vec<(String, String)>);

impl Query {
    /// The value of a parameter.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A parameter that is a number.
    ///
    /// # Errors
    /// It is none.
    pub fn number(&self, name: &str) -> Result<Option<u64>, ApiError> {
        let parse = |text: &str| {
            text.parse().map_err(|_| {
                Error::invalid(format!("`{name}` must be a whole number, not `{text}`")).into()
            })
        };
        self.get(name).map(parse).transpose()
    }

    /// How many items a list may have.
    ///
    /// # Errors
    /// It is no number.
    pub fn limit(&self) -> Result<usize, ApiError> {
        let limit = self.number("limit")?.unwrap_or(100);
        Ok(usize::try_from(limit).unwrap_or(usize::MAX).clamp(1, 1000))
    }

    /// Refuses parameters that are not among these.
    ///
    /// # Errors
    /// One is not.
    pub fn only(&self, known: &[&str]) -> Result<(), ApiError> {
        match self.0.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some((name, _)) => {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(Error::invalid(format!("unknown parameter `{name}`; known are {known}")).into())
            }
        }
    }
}

impl FromRequestParts<App> for Query {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Query, ApiError> {
        let axum::extract::Query(pairs) =
            axum::extract::Query::<Vec<(String, String)>>::from_request_parts(parts, app)
                .await
                .map_err(|_| ApiError::from(Error::invalid("the query is not understood")))?;
        for (index, (name, _)) in pairs.iter().enumerate() {
            if pairs.iter().take(index).any(|(other, _)| other == name) {
                return Err(Error::invalid(format!("`{name}` stands there twice")).into());
            }
        }
        Ok(Query(pairs))
    }
}
