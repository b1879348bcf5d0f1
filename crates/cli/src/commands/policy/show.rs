//! `portcullis policy show`: which policy is in force here, and why.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use portcullis_layers::Places;
use portcullis_wire::policy as wire;

use crate::local::Ground;
use crate::palette::Palette;
use crate::{render, settings};

/// Shows the policy files in force here, layer by layer.
#[derive(Args)]
pub struct Show {
    #[command(flatten)]
    ground: Ground,
    /// Shows what the layers make together, each value with where it comes from.
    #[arg(long)]
    effective: bool,
    /// Writes JSON.
    #[arg(long)]
    json: bool,
}

impl Show {
    /// Reads the files and shows them.
    pub fn run(self, out: &mut impl Write, palette: Palette) -> anyhow::Result<ExitCode> {
        let directory = self.ground.directory()?;
        let layers = self.ground.layers(&Places::of_this_user(), &directory)?;
        // Also where only the layers are shown: what cannot be merged is not in force.
        let policy = self.ground.in_mode(layers.policy()?);
        if self.effective {
            let mut effective = settings::effective(&layers, &policy);
            if self.ground.mode.is_some() {
                for mode in effective.iter_mut().filter(|one| one.setting.key == "mode") {
                    mode.sources = vec!["--mode"];
                }
            }
            if self.json {
                let shape = effective.iter().map(|one| wire::Effective {
                    key: one.setting.key,
                    value: &one.setting.value,
                    sources: &one.sources,
                });
                serde_json::to_writer(&mut *out, &shape.collect::<Vec<_>>())?;
                writeln!(out)?;
            } else {
                render::policy::effective(out, &effective, palette)?;
            }
        } else if self.json {
            let shape = layers.layers.iter().map(|layer| wire::Layer {
                source: layer.source.name(),
                path: layer.path.to_string_lossy(),
                left_out: &layer.left_out,
                settings: settings::said(&layer.said)
                    .into_iter()
                    .map(|setting| (setting.key.to_owned(), setting.value))
                    .collect(),
            });
            serde_json::to_writer(&mut *out, &shape.collect::<Vec<_>>())?;
            writeln!(out)?;
        } else {
            render::policy::layers(out, &layers, palette)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
