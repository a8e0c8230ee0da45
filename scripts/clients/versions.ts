/**
 * The exact version of each tool, which the table in docs/clients-in-any-language.md repeats. Those from npm and PyPI are installed from
 * `locks/`, with the version of every package that they need; a test compares.
 */
export const VERSIONS = {
  '@apidevtools/swagger-parser': '13.1.0',
  '@hey-api/openapi-ts': '0.99.0',
  '@stoplight/spectral-cli': '6.16.3',
  'oapi-codegen': '2.8.2',
  'openapi-generator': '7.25.0',
  'openapi-python-client': '0.29.1',
  'openapi-spec-validator': '0.9.0',
} as const

/** The libraries that the readers and the generated clients need. */
export const LIBRARIES = {
  go: {
    'github.com/oapi-codegen/runtime': 'v1.4.0',
    'gopkg.in/validator.v2': 'v2.0.1',
    'gopkg.in/yaml.v3': 'v3.0.1',
  },
} as const

/** The SHA-256 of the jar of openapi-generator, because it is a program of a third party that this machine runs. */
export const GENERATOR_SHA256 = '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae'

/** The plugin of Maven that fetches the jar. */
export const MAVEN_DEPENDENCY_PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1'
