import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')

const dockerfile = read('Dockerfile')
const admitted = read('.dockerignore')
  .split('\n')
  .filter((line) => line.startsWith('!'))
  .map((line) => line.slice(1))

/** The sources of a COPY from the folder of the build, not from another stage. */
const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
  sources.split(' '),
)

describe('the image', () => {
  test.each(copied)('gets %s, which is there and not ignored', (path) => {
    expect(existsSync(join(ROOT, path))).toBe(true)
    expect(admitted.some((allowed) => path === allowed || path.startsWith(`${allowed}/`))).toBe(true)
  })

  test('gets nothing that no step copies', () => {
    expect(admitted.filter((path) => !copied.some((source) => source === path))).toEqual([])
  })

  test('builds every stage on the base image that can be given by digest', () => {
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)
    expect(bases).toHaveLength(3)
    for (const base of bases) expect(base).toMatch(/^\$\{NODE_IMAGE\}$/)
  })

  test('says the version of package.json', () => {
    expect(dockerfile).toContain(`ARG VERSION=${JSON.parse(read('package.json')).version}\n`)
  })
})

test('each service of compose.yaml has limits of memory and of its log, and one file has all secrets', () => {
  const { services } = parse(read('compose.yaml')) as {
    services: Record<
      string,
      { deploy: { resources: { limits: { memory?: string } } }; logging: { options: object } }
    >
  }
  for (const { deploy, logging } of Object.values(services)) {
    expect(deploy.resources.limits.memory).toMatch(/^\d+[MG]$/)
    expect(logging.options).toHaveProperty('max-size')
  }
  expect(read('compose.yaml')).not.toContain('env_file')
})
