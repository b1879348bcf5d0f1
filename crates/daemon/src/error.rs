//! Errors of the native API: status and stable code. A cause in the store is logged here, once.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use portcullis_approval::settle::Refusal;
use portcullis_store::StoreError;
use portcullis_wire::asks::Decision;
use portcullis_wire::errors::{Code, Error};
use serde_json::json;

use crate::authority::Fault;

/// An error as the native API answers it.
#[derive(Debug)]
pub struct ApiError {
    /// The status.
    pub status: StatusCode,
    /// The code and the sentence.
    pub error: Error,
}

impl ApiError {
    /// An error of this kind.
    #[must_use]
    pub fn new(status: StatusCode, code: Code, message: impl Into<String>) -> ApiError {
        ApiError { status, error: Error::new(code, message) }
    }

    /// What was asked for is not there, or not for this caller.
    #[must_use]
    pub fn not_found(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, Code::NotFound, message)
    }

    /// The credential does not reach so far.
    #[must_use]
    pub fn forbidden(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::FORBIDDEN, Code::Forbidden, message)
    }

    /// No valid credential was shown.
    #[must_use]
    pub fn unauthorized() -> ApiError {
        let message = "no valid key; send it as `Authorization: Bearer pcl_…`";
        ApiError::new(StatusCode::UNAUTHORIZED, Code::Unauthorized, message)
    }

    /// There is no such ask.
    #[must_use]
    pub fn no_such_ask() -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, Code::NoSuchAsk, "no such ask")
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> ApiError {
        let status = match error.code {
            Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Code::Unauthorized => StatusCode::UNAUTHORIZED,
            Code::Forbidden => StatusCode::FORBIDDEN,
            Code::NoSuchAsk | Code::NoSuchSession | Code::NotFound => StatusCode::NOT_FOUND,
            Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Code::AskAlreadySettled => StatusCode::CONFLICT,
            Code::TooManyAsks => StatusCode::TOO_MANY_REQUESTS,
            Code::CallDenied | Code::RuleRefused => StatusCode::UNPROCESSABLE_ENTITY,
            Code::InvalidRequest => StatusCode::BAD_REQUEST,
        };
        ApiError { status, error }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        let message = error.to_string();
        match error {
            StoreError::NoSuchAsk(_) => ApiError::no_such_ask(),
            StoreError::AlreadySettled(decision) => {
                let details = json!({ "decision": Decision::new(&decision) });
                Error::new(Code::AskAlreadySettled, message).with_details(details).into()
            }
            StoreError::TooManyAsks(_) => Error::new(Code::TooManyAsks, message).into(),
            StoreError::NameTaken(_) => {
                ApiError::new(StatusCode::CONFLICT, Code::InvalidRequest, message)
            }
            StoreError::GrantGone(_) | StoreError::Newer { .. } | StoreError::Unavailable(_) => {
                let cause = deepest(&error);
                tracing::error!("the store failed: {cause}");
                let message = "the store is not available; the log of the daemon says why";
                Error::new(Code::Unavailable, message).into()
            }
        }
    }
}

/// What lies at the bottom of a failure.
fn deepest(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

impl From<Fault> for ApiError {
    fn from(fault: Fault) -> ApiError {
        let message = fault.to_string();
        match fault {
            Fault::NoSuchAsk => ApiError::no_such_ask(),
            Fault::Refused(Refusal::NotYours) | Fault::Profile(_) => ApiError::forbidden(message),
            Fault::Refused(Refusal::RuleRefused(_)) => {
                Error::new(Code::RuleRefused, message).into()
            }
            Fault::Refused(Refusal::CallDenied(_)) => Error::new(Code::CallDenied, message).into(),
            Fault::Refused(Refusal::Malformed(_) | Refusal::TooLate) => {
                ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, Code::InvalidRequest, message)
            }
            Fault::TooOften(_) => Error::new(Code::TooManyAsks, message).into(),
            Fault::Policy(_) | Fault::SessionPolicy(_) => {
                Error::new(Code::Unavailable, message).into()
            }
            Fault::Store(error) => error.into(),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = json_response(self.status, &json!({ "error": self.error }));
        if self.status == StatusCode::UNAUTHORIZED {
            let value = axum::http::HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
        }
        response
    }
}

/// A JSON answer.
pub fn json_response(status: StatusCode, body: &impl serde::Serialize) -> Response {
    let bytes = serde_json::to_vec(body).unwrap_or_default();
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (status, headers, bytes).into_response()
}
