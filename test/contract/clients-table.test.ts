import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { VERSIONS } from '../../scripts/clients/versions.ts'

const ROOT = new URL('../../', import.meta.url)
const page = await readFile(new URL('docs/clients-in-any-language.md', ROOT), 'utf8')
const { devDependencies } = JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8'))

/** The names that the page uses where they are not those of the packages. */
const NAMES: Readonly<Record<string, string>> = {
  '@apidevtools/swagger-parser': 'swagger-parser',
  '@redocly/cli': 'Redocly',
  '@stoplight/spectral-cli': 'Spectral',
}

const tools = [
  ...Object.entries(VERSIONS),
  ...['@redocly/cli', 'openapi-fetch', 'openapi-typescript'].map(
    (name) => [name, devDependencies[name]] as const,
  ),
]

test.each(tools)('the page about clients names the version of %s that is checked', (name, version) => {
  const lines = page
    .split('\n')
    .filter((line) => line.includes(NAMES[name] ?? name) && line.includes(version))
  expect(lines).not.toEqual([])
})

/** A package and its version, as a line of the locks writes them: those of npm in JSON, those of PyPI with `==`. */
const LOCKED = new Map(
  (
    await Promise.all(
      [['package.json', /"(.+)": "(\d.+)"/] as const, ['requirements.txt', /^([^#=]+)==(.+)/] as const].map(
        async ([file, line]) =>
          (
            await readFile(new URL(`scripts/clients/locks/${file}`, ROOT), 'utf8')
          )
            .split('\n')
            .flatMap((text) => {
              const [, name, version] = line.exec(text) ?? []
              return name && version ? [[name, version] as const] : []
            }),
      ),
    )
  ).flat(),
)

test.each(Object.entries(VERSIONS).filter(([name]) => !['oapi-codegen', 'openapi-generator'].includes(name)))(
  'the lock of check:clients has %s in the version that the page names',
  (name, version) => {
    expect(LOCKED.get(name)).toBe(version)
  },
)
