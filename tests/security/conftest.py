"""A broker with an authority of its own and ACLs, one for each file that names a ``USER`` and a ``PASSWORD``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.harness.parts.certificates import Certificates, make_certificates
from tests.harness.parts.secured_parts import SecuredKafka, secured_kafka


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def guarded(request: pytest.FixtureRequest, certificates: Certificates) -> Iterator[SecuredKafka]:
    """A broker that lets the test do everything, and the file's user what ACLs say."""
    user, password = request.module.USER, request.module.PASSWORD
    with secured_kafka(certificates, user=user, password=password, authorizer=True) as secured:
        yield secured
