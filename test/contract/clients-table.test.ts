import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { VERSIONS } from '../../scripts/clients/versions.ts'

const ROOT = new URL('../../', import.meta.url)
const readme = await readFile(new URL('README.md', ROOT), 'utf8')
const { devDependencies } = JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8'))

/** The names that the README uses where they are not those of the packages. */
const NAMES: Readonly<Record<string, string>> = {
  '@apidevtools/swagger-parser': 'swagger-parser',
  '@redocly/cli': 'Redocly',
  '@stoplight/spectral-cli': 'Spectral',
}

const section = readme.slice(readme.indexOf('## Clients in any language'), readme.indexOf('## How it works'))

const tools = [
  ...Object.entries(VERSIONS),
  ...['@redocly/cli', 'openapi-fetch', 'openapi-typescript'].map(
    (name) => [name, devDependencies[name]] as const,
  ),
]

test.each(tools)('the README names the version of %s that check:clients uses', (name, version) => {
  const lines = section
    .split('\n')
    .filter((line) => line.includes(NAMES[name] ?? name) && line.includes(version))
  expect(lines).not.toEqual([])
})
