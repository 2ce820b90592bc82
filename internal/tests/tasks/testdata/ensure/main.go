// Command ensure prints the id of the list called Q1, and makes the list if it is not there.
package main

import (
	"context"
	"fmt"
	"log"

	"example.com/prospectkit"
)

func main() {
	client, err := prospectkit.FromEnv()
	if err != nil {
		log.Fatal(err)
	}
	ensured, err := client.Lists.Ensure(context.Background(), prospectkit.NewList{Name: "Q1"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ensured.List.ID)
}
