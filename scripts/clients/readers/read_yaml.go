// Fails when go-yaml does not find in openapi.yaml what the service serves as openapi.json.
package main

import (
	"log"
	"os"
	"reflect"

	"gopkg.in/yaml.v3"
)

func read(path string) (document any) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(text, &document)
	}
	if err != nil {
		log.Fatal(err)
	}
	return document
}

func main() {
	// JSON is YAML, too, so that numbers have the same types on both sides.
	if !reflect.DeepEqual(read(os.Args[1]), read(os.Args[2])) {
		log.Fatal("go-yaml reads another document")
	}
}
