package pagewalk

import (
	"fmt"

	"example.com/prospectkit/internal/jsonscan"
)

// maxToken bounds the token of the next page.
const maxToken = 64 << 10

// Token reads the token of the next page from its JSON. Null is no token, and neither is an empty
// string: with it, the walk would restart and cost again.
func Token(text jsonscan.Text) (string, error) {
	c := jsonscan.New(text)
	if len(text) == 0 || c.Is('n') {
		return "", nil
	}
	if !c.Is('"') {
		return "", BadTokenError("the token of the next page is not a string")
	}
	token := c.String()
	if len(token) > maxToken {
		const text = "the token of the next page has %d bytes, more than the %d that are sent back"
		return "", BadTokenError(fmt.Sprintf(text, len(token), maxToken))
	}
	return token, nil
}

// BadTokenError says that the token of the next page cannot be used.
type BadTokenError string

func (e BadTokenError) Error() string { return string(e) }

// Words returns the text, which quotes nothing.
func (e BadTokenError) Words() string { return string(e) }
