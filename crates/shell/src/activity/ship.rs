//! Containers, infrastructure and hosting.

use super::ActivityKind::{Build, Deploy, Fetch, Format, Install, Lint, Publish, Read, Run};
use super::call::{Call, Found, whole};

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    let sub = call.arg(call.sub(&["-n", "--namespace", "--context", "--chdir"]));
    match call.program {
        "docker" | "podman" | "nerdctl" => Some(docker(call)),
        "docker-compose" => Some(compose(call)),
        "buildah" => Some(whole(Build, "buildah")),
        "terraform" | "tofu" | "terragrunt" => Some(match sub {
            "apply" | "destroy" => whole(Deploy, "terraform apply"),
            "validate" => whole(Lint, "terraform validate"),
            "fmt" if call.has(&["-check", "--check"]) => whole(Lint, "terraform fmt -check"),
            "fmt" => whole(Format, "terraform fmt"),
            "init" => whole(Install, "terraform init"),
            "plan" | "show" | "output" | "state" => whole(Read, "terraform plan"),
            _ => Vec::new(),
        }),
        "kubectl" | "oc" => Some(match sub {
            "apply" | "create" | "replace" | "delete" | "rollout" | "scale" | "set"
                if call.texts().any(|text| text.starts_with("--dry-run")) =>
            {
                Vec::new()
            }
            "rollout" if call.has(&["status", "history"]) => whole(Read, "kubectl get"),
            "apply" | "create" | "replace" | "delete" | "rollout" | "scale" | "set" => {
                whole(Deploy, "kubectl apply")
            }
            "get" | "describe" | "logs" => whole(Read, "kubectl get"),
            _ => Vec::new(),
        }),
        "helm" => Some(match sub {
            "install" | "upgrade" | "uninstall" => whole(Deploy, "helm upgrade"),
            "lint" | "template" => whole(Lint, "helm lint"),
            _ => Vec::new(),
        }),
        "vercel" => Some(match sub {
            "" | "deploy" | "--prod" => whole(Deploy, "vercel deploy"),
            "build" => whole(Build, "vercel build"),
            _ => Vec::new(),
        }),
        "netlify" | "fly" | "flyctl" | "wrangler" | "firebase" | "serverless" | "sls" | "cdk"
        | "railway" | "amplify" | "eb" | "now" | "surge" | "sam" | "gcloud" | "az" => {
            Some(if call.texts().take(3).any(|text| matches!(text, "deploy" | "publish" | "up")) {
                whole(Deploy, "deploy")
            } else {
                Vec::new()
            })
        }
        "pulumi" if matches!(sub, "up" | "update" | "destroy") => Some(whole(Deploy, "pulumi up")),
        "ansible-playbook" => Some(if call.has(&["--check", "--syntax-check"]) {
            whole(Lint, "ansible-playbook --check")
        } else {
            whole(Deploy, "ansible-playbook")
        }),
        _ => None,
    }
}

fn docker(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&["--context", "-H"]);
    match call.arg(at) {
        "build" | "bake" => whole(Build, "docker build"),
        "buildx" if matches!(call.arg(at + 1), "build" | "bake") => whole(Build, "docker build"),
        "compose" => compose(&call.after(at + 1)),
        "push" => whole(Publish, "docker push"),
        "pull" => whole(Fetch, "docker pull"),
        "run" | "start" => whole(Run, "docker run"),
        "ps" | "logs" | "images" | "inspect" => whole(Read, "docker ps"),
        _ => Vec::new(),
    }
}

fn compose(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&["-f", "--file", "-p", "--project-name", "--profile", "--env-file"]);
    match call.arg(at) {
        "build" => whole(Build, "docker compose build"),
        "up" | "run" | "start" => whole(Run, "docker compose up"),
        "pull" => whole(Fetch, "docker compose pull"),
        "ps" | "logs" => whole(Read, "docker compose ps"),
        "config" => whole(Lint, "docker compose config"),
        _ => Vec::new(),
    }
}
