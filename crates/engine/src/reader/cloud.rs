//! Clients of clouds and hosting services: values that name files, methods of an API.

use super::Reading;
use crate::arg::{Arg, Text};
use crate::effect::{Effect, EffectOn, Target};
use crate::usage::GivenOption;

/// Values `file://P`, `fileb://P` and `@P` are read and sent.
pub(super) fn cloud(reading: &mut Reading<'_, '_>) {
    let is_azure = reading.act.base_name() == Some("az");
    for arg in reading.args().to_vec() {
        let text = arg.prefix();
        let value = text
            .split_once('=')
            .filter(|(name, _)| name.starts_with("--"))
            .map_or(text, |(_, value)| value);
        let path = value
            .strip_prefix("file://")
            .or_else(|| value.strip_prefix("fileb://"))
            .or_else(|| value.strip_prefix('@').filter(|_| is_azure));
        if let Some(path) = path {
            let target = Target::Path(path.to_owned());
            reading.act.effects.push(EffectOn::new(Effect::Read, target));
            reading.effect(Effect::Connect);
            reading.act.note("sends_file", reading.act.span);
        }
        if value.starts_with("http://") || value.starts_with("https://") {
            reading.effect(Effect::Connect);
        }
    }
}

/// What may show a file or the variables of a repository: these are read by their exact names only.
const KEPT: [&str; 4] = ["contents", "files", "blobs", "variables"];

/// Whether a word with a `?` that nobody quoted asks for something of a repository, whatever file
/// it should fit: `repos/o/r/commits?per_page=5`, `projects/:id/issues?state=opened`.
fn is_below_repositories(endpoint: &Arg) -> bool {
    matches!(&endpoint.text, Text::Files { prefix, pattern }
        if (prefix.starts_with("repos/") || prefix.starts_with("projects/"))
            && !KEPT.iter().any(|kept| pattern.contains(kept)))
}

/// The file of a repository that an endpoint shows, which is read like one of the workspace.
fn file_of_repository(endpoint: &str) -> Option<String> {
    let endpoint = endpoint.split(['?', '#']).next()?;
    let shown = |at: &str| endpoint.split_once(at).map(|(_, file)| file);
    let file = shown("/contents/").or_else(|| shown("/repository/files/"))?;
    let file =
        ["/raw", "/blame"].into_iter().find_map(|end| file.strip_suffix(end)).unwrap_or(file);
    let file = [("%2F", "/"), ("%2f", "/"), ("%2E", "."), ("%2e", ".")]
        .into_iter()
        .fold(file.to_owned(), |file, (sign, meant)| file.replace(sign, meant));
    Some(format!("./{file}"))
}

/// `gh api`: GET asks, everything else changes.
pub(super) fn gh_api(reading: &mut Reading<'_, '_>) {
    let method = reading.usage.value_of(&["-X", "--method"]).cloned();
    let is_explicit_get = method.as_ref().and_then(Arg::as_known).is_some_and(|method| {
        method.eq_ignore_ascii_case("GET") || method.eq_ignore_ascii_case("HEAD")
    });
    let fields = ["-f", "-F", "--raw-field", "--field", "--form", "--input"];
    let endpoint = reading.operands().first().cloned();
    let endpoint_text = endpoint.as_ref().and_then(Arg::as_known);
    let is_graphql = endpoint_text == Some("graphql");
    if endpoint_text.is_none() && !endpoint.as_ref().is_some_and(is_below_repositories) {
        reading.dynamic("what is asked for is not known before it runs");
    }
    if endpoint_text.is_some_and(|text| text.contains("://")) {
        reading.effect(Effect::Connect);
    }
    if let Some(file) = endpoint_text.and_then(file_of_repository) {
        reading.act.effects.push(EffectOn::new(Effect::Read, Target::Path(file)));
    }
    let values: Vec<Arg> = reading
        .usage
        .options
        .iter()
        .filter(|given| fields.contains(&given.name))
        .filter_map(|given| given.value.clone())
        .collect();
    for value in &values {
        let text = value.prefix();
        if let Some((_, path)) = text.split_once("=@") {
            let target = Target::Path(path.to_owned());
            reading.act.effects.push(EffectOn::new(Effect::Read, target));
            reading.act.note("sends_file", reading.act.span);
            reading.effect(Effect::Change);
        }
    }
    if is_graphql {
        let only_asks = method.is_none()
            && !reading.usage.has_option(&["--input"])
            && values.iter().all(|value| {
                value.as_known().is_some_and(|text| {
                    let lower = text.to_ascii_lowercase();
                    !lower.contains("mutation") && !lower.contains("subscription")
                })
            });
        if !only_asks {
            reading.effect(Effect::Change);
        }
        return;
    }
    // Some servers take a header for the method.
    let is_override = |given: &&GivenOption| {
        matches!(given.name, "-H" | "--header")
            && given.value.as_ref().is_none_or(|value| {
                let text = value.prefix().to_ascii_lowercase();
                value.as_known().is_none() || text.contains("method")
            })
    };
    if reading.usage.options.iter().any(|given| is_override(&given)) {
        reading.effect(Effect::Change);
    }
    let changes = match method {
        Some(_) => !is_explicit_get,
        None => reading.usage.has_option(&fields),
    };
    if changes {
        reading.effect(Effect::Change);
    }
    let is_delete = method.as_ref().and_then(Arg::as_known);
    if is_delete.is_some_and(|method| method.eq_ignore_ascii_case("DELETE")) {
        reading.act.note("lost_work", reading.act.span);
    }
}
