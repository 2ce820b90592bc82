module example.com/prospectkit/internal/gateways

go 1.26.0

require (
	example.com/prospectkit v0.0.0
	github.com/stretchr/testify v1.12.1
)

require (
	github.com/google/go-querystring v1.2.0 // indirect
	github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
	github.com/hashicorp/go-retryablehttp v0.7.8 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace example.com/prospectkit => ../..
