package browser

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"example.com/prospectkit/sandbox"
	"example.com/prospectkit/sandbox/fixture"
)

// What the sandbox holds is shown as text, whatever it looks like, and no token is shown at all.
func TestEverythingIsText(t *testing.T) {
	const evil = `<img src=x onerror="hacked=1"><script>hacked=1</script>`
	state := fixture.Small(1)
	ws := &state.Workspaces[0]
	ws.Name, ws.Agents[0].Name, ws.Campaigns[0].Name = evil, "agent "+evil, "campaign "+evil
	ws.Keys = append([]sandbox.Key{{Name: "key " + evil, Token: "token-that-nobody-sees"}}, ws.Keys...)
	c := start(t, "-seed", seedFile(t, state), "-fault", "account.me:key=token-that-nobody-sees:latency=1ms")
	require.Equal(t, http.StatusOK, c.call(t, "GET", "/business/me", ""))
	require.Equal(t, http.StatusCreated, c.call(t, "POST", "/business/lists", `{"name":"list <b onclick=hacked=1>"}`))
	p := c.open(t)
	p.untilText("agents", "agent "+evil)
	p.untilText("campaigns", "campaign "+evil)
	p.untilText("journal", "key "+evil)
	p.untilText("journal", "list <b onclick=hacked=1>")
	p.untilText("faults", "account.me:key=...:latency=1ms")
	require.False(t, ask[bool](p, `"hacked" in window`))
	require.Zero(t, ask[int](p, `document.querySelectorAll("main img, main script, main b[onclick]").length`))
	html := ask[string](p, `document.documentElement.outerHTML`)
	for _, ws := range state.Workspaces {
		for _, key := range ws.Keys {
			if key.Token != "" {
				require.NotContains(t, html, key.Token)
			}
		}
	}
	require.NotContains(t, html, c.Token)
}

func TestFaultsByKeyboard(t *testing.T) {
	c := start(t)
	p := c.open(t)
	p.run(chromedp.SetValue("#operation", "account.me", chromedp.ByID), chromedp.SetValue("#what", "html=502", chromedp.ByID),
		chromedp.Evaluate(`document.getElementById("what").dispatchEvent(new Event("change"))`, nil))
	require.Equal(t, "account.me:always:html=502", ask[string](p, `document.getElementById("spec").value`))
	p.run(chromedp.SendKeys("#spec", kb.Enter, chromedp.ByID))
	p.untilText("faults", "1. account.me:always:html=502")
	require.Equal(t, http.StatusBadGateway, c.call(t, "GET", "/business/me", ""))
	p.untilText("faults", "fired once")
	p.untilText("journal", "502")

	p.run(chromedp.SendKeys("#faults input", " ", chromedp.ByQuery))
	p.until(`document.querySelector("#faults .off")`)
	require.Equal(t, http.StatusOK, c.call(t, "GET", "/business/me", ""))
	require.True(t, ask[bool](p, `document.activeElement.matches("#faults input")`), "the focus stays where it was")
	p.run(chromedp.KeyEvent(" "))
	p.until(`!document.querySelector("#faults .off")`)
	require.Equal(t, http.StatusBadGateway, c.call(t, "GET", "/business/me", ""))

	p.run(chromedp.SetValue("#spec", "account.you:html=502", chromedp.ByID), chromedp.SendKeys("#spec", kb.Enter, chromedp.ByID))
	p.untilText("refusal", "no operation has the name")
	p.run(chromedp.Click("#clear", chromedp.ByID))
	p.until(`document.getElementById("faults").children.length === 0`)
	require.Equal(t, http.StatusOK, c.call(t, "GET", "/business/me", ""))
}

// A day forward: the windows are fresh, agents have run, and the ledger says what that cost.
func TestClockForward(t *testing.T) {
	c := start(t, "-clock", "manual:2030-01-01T00:00:00Z", "-seed", seedFile(t, fixture.Empty()), "-credits", "5000")
	p := c.open(t)
	p.untilText("now", "2030-01-01 00:00:00 UTC")
	agent := `{"listName":"Offices","entityType":"company","prompt":"new offices","maxCreditSpend":1000,"start":true}`
	require.Equal(t, http.StatusCreated, c.call(t, "POST", "/business/agents/web-monitor", agent))
	p.untilText("agents", "processing")
	p.untilText("windows", "29 of 30")
	p.run(chromedp.SendKeys(`[data-advance="1h"]`, kb.Enter, chromedp.ByQuery))
	p.untilText("now", "2030-01-01 01:00:00 UTC")
	p.untilText("windows", "30 of 30")
	p.untilText("windows", "1,999 of 2,000")
	p.untilText("agents", "active")
	p.until(`document.getElementById("events").children.length > 0`)
	p.until(`document.getElementById("ledger").children.length > 0`)
	p.until(`document.getElementById("balance").value !== "5,000"`)

	p.run(chromedp.Click("#reset", chromedp.ByID), chromedp.WaitVisible("#sure", chromedp.ByID), chromedp.KeyEvent(kb.Enter))
	p.until(`!document.getElementById("sure").open`)
	p.untilText("agents", "Offices") // the button that has the focus keeps everything
	p.run(chromedp.Click("#reset", chromedp.ByID), chromedp.Click("#sure-yes", chromedp.ByID))
	p.until(`document.getElementById("agents").children.length === 0 && document.getElementById("balance").value === "5,000"`)
}

// Limits that are off take no room, and the journal is on the first screen.
func TestFirstScreen(t *testing.T) {
	for _, limits := range []string{"on", "off"} {
		c := start(t, "-limits", limits, "-limit", "agents=2/7")
		require.Equal(t, http.StatusOK, c.call(t, "GET", "/business/me", ""))
		p := c.open(t)
		p.run(chromedp.EmulateViewport(1280, 800))
		p.untilText("windows", "7 of 7")
		p.untilText("journal", "account.me")
		require.Equal(t, limits == "off", ask[int](p, `document.querySelectorAll("#windows .surface").length`) == 1)
		require.Less(t, ask[float64](p, `document.querySelector("#journal tr").getBoundingClientRect().bottom`), 800.0)
		p.run(chromedp.EmulateViewport(420, 800))
		require.Equal(t, limits == "off", ask[float64](p, `document.querySelector("#journal-title").getBoundingClientRect().bottom`) < 800)
	}
}

// Every control is reached by the Tab key, shows that it is, and has a name.
func TestEveryControlIsReachedByKeyboard(t *testing.T) {
	p := start(t, "-clock", "manual", "-fault", "account.me:html=502").open(t)
	p.until(`document.querySelector("#faults input")`)
	const controls = `[...document.querySelectorAll("button, input, select, [tabindex='0']")].filter((e) => e.checkVisibility() && !e.disabled)`
	for range ask[int](p, controls+".length") {
		p.run(chromedp.KeyEvent(kb.Tab))
		p.run(chromedp.Evaluate(`document.activeElement.dataset.reached = getComputedStyle(document.activeElement).outlineStyle`, nil))
	}
	require.Empty(t, ask[[]string](p, controls+`.filter((e) => e.dataset.reached !== "solid").map((e) => e.outerHTML)`))
	const unnamed = `.filter((e) => !(e.labels?.length || e.ariaLabel || e.getAttribute("aria-labelledby") || e.innerText)).map((e) => e.outerHTML)`
	require.Empty(t, ask[[]string](p, controls+unnamed))
}

// The page fits a narrow screen and follows the colours of the system, with enough contrast for small text. With a directory in
// SCREENSHOTS it leaves pictures there, for people.
func TestLightDarkAndNarrow(t *testing.T) {
	p := start(t, "-clock", "manual", "-fault", "lists.rows:nth=3:status=429:code=RATE_LIMITED:retry-after=2").open(t)
	p.until(`document.querySelector("#faults input")`)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{320, 390, 768, 1280} {
			p.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				chromedp.EmulateViewport(width, 900))
			require.Equal(t, width, ask[int64](p, `document.scrollingElement.scrollWidth`), "nothing hangs over")
			require.Equal(t, scheme == "dark", ask[float64](p, `{`+luminance+`luminance(getComputedStyle(document.body).backgroundColor)}`) < 0.2)
			require.Empty(t, ask[[]string](p, faint), "%s, %d", scheme, width)
			if dir := os.Getenv("SCREENSHOTS"); dir != "" {
				var png []byte
				p.run(chromedp.FullScreenshot(&png, 100))
				require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.png", scheme, width)), png, 0o600))
			}
		}
	}
}

const luminance = `
	const luminance = (color) => {
		const [r, g, b] = color.match(/[\d.]+/g).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
`

// faint lists texts with less than the contrast that WCAG asks for. All of them stand on a card, the page or a button.
const faint = `(() => {` + luminance + `
	const behind = (e) => {
		const color = getComputedStyle(e).backgroundColor;
		return /, 0\)$/.test(color) ? behind(e.parentElement) : color;
	};
	return [...document.querySelectorAll("main *, header *")]
		.filter((e) => e.checkVisibility() && !e.disabled && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
		.filter((e) => {
			const [a, b] = [luminance(getComputedStyle(e).color), luminance(behind(e))].sort((x, y) => y - x);
			return (a + 0.05) / (b + 0.05) < 4.5;
		}).map((e) => e.outerHTML.slice(0, 100));
})()`
