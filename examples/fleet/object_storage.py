"""Sessions in a bucket, findings beside them, with Ray.

    AWS_ENDPOINT_URL=http://127.0.0.1:9000 python object_storage.py logs/sessions logs/findings

Both are `BUCKET/PREFIX` of Parquet files; the sessions have the columns `id` and `session`. Keys come
from where Arrow looks for them: the environment, the profile, the machine. Without the variable the
storage is Amazon's.
"""

import os
import sys

import pyarrow.fs
import ray

from counterfoil.ray import check_sessions


def main(source: str, target: str) -> None:
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    scheme = "http" if endpoint and endpoint.startswith("http:") else "https"
    bucket = pyarrow.fs.S3FileSystem(endpoint_override=endpoint, scheme=scheme)
    sessions = ray.data.read_parquet(source, filesystem=bucket)
    findings = check_sessions(sessions, key="id", batch_size=1000)
    findings.write_parquet(target, filesystem=bucket)


if __name__ == "__main__":
    main(*sys.argv[1:3])
