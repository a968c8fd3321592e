"""Who may connect to the service, from where, and what its page may do."""

from __future__ import annotations

import pytest

from caesura.worker.settings.serving import ServeSettings
from tests.harness.service import closing_of, fetched, opened, received, serving


def test_metrics_are_for_those_who_show_the_token() -> None:
    with serving(ServeSettings(port=0, token="open-sesame", drain_timeout_s=5)) as served:
        assert fetched(served, "/metrics")[0] == 403
        status, _, text = fetched(served, "/metrics", Authorization="Bearer open-sesame")
        assert (status, "caesura_serve_connections" in text) == (200, True)


def test_a_token_is_asked_for_and_told_in_either_way() -> None:
    with serving(ServeSettings(port=0, token="open-sesame")) as served:
        assert closing_of(served, {}) == (4001, "wrong_token")
        assert closing_of(served, {"token": "open"}) == (4001, "wrong_token")
        assert closing_of(served, {}, Authorization="Bearer open") == (4001, "wrong_token")
        with opened(served, {"token": "open-sesame"}) as client:
            received(client, "ready")
        with opened(served, headers={"Authorization": "Bearer open-sesame"}) as client:
            received(client, "ready")


def test_a_page_of_another_site_may_not_connect() -> None:
    with serving(ServeSettings(port=0, allowed_origins=("https://captions.example",))) as served:
        assert closing_of(served, {}, Origin="https://stranger.example") == (4001, "unknown_origin")
        for origin in ("https://captions.example", served.url.rstrip("/")):
            with opened(served, headers={"Origin": origin}) as client:
                received(client, "ready")


def test_an_address_that_is_none_is_nobodys_who_may_come() -> None:
    with serving() as served:
        assert closing_of(served, {}, Origin="http://[::1") == (4001, "unknown_origin")
        assert [fetched(served, path, Host="[::1")[0] for path in ("/", "/v1/about", "/metrics")] == [403] * 3


@pytest.mark.parametrize(
    "origin",
    ["banana", "https://", "https://a.example/", "https://A.example", "//a.example", "https://me:pw@a.example"],
)
def test_an_allowed_origin_that_no_browser_would_send_is_refused(origin: str) -> None:
    with pytest.raises(ValueError, match=r"serve\.allowed_origins") as refused:
        ServeSettings(allowed_origins=("https://a.example", origin))
    assert "pw" not in str(refused.value)


@pytest.mark.parametrize("origin", ["https://a.example", "http://[::1]:8080", "http://a-b.example:80", "app://x_1"])
def test_an_allowed_origin_as_a_browser_sends_it_is_taken(origin: str) -> None:
    assert ServeSettings(allowed_origins=(origin,)).allowed_origins == (origin,)


def test_a_name_that_is_not_this_machines_is_refused_without_a_token() -> None:
    with serving() as served:
        assert [fetched(served, path, Host="stranger.example")[0] for path in ("/", "/v1/about")] == [403, 403]
        assert [fetched(served, path)[0] for path in ("/", "/v1/about", "/live", "/ready")] == [200] * 4
    with serving(ServeSettings(port=0, allowed_hosts=("inside.example",))) as served:
        assert fetched(served, "/", Host="inside.example:8765")[0] == 200


def test_the_page_may_load_nothing_and_make_no_markup_of_text() -> None:
    with serving() as served:
        _, policy, html = fetched(served, "/")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "http://" not in html.replace("http://www.w3.org/", "")
    assert "https://" not in html
    for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert sink not in html


def test_beyond_this_machine_a_token_is_wanted() -> None:
    with pytest.raises(ValueError, match=r"set serve\.token"):
        ServeSettings(host="0.0.0.0")  # noqa: S104 - the refusal is what is tested
    assert ServeSettings(host="0.0.0.0", token="x").token  # noqa: S104
    assert ServeSettings(host="::1").host
