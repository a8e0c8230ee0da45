import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const read = (name: string) => readFileSync(join(import.meta.dirname, '../..', name), 'utf8')

test('a clone, the workflows and the image have the same Node.js', () => {
  const version = read('.node-version').trim()
  expect(JSON.parse(read('package.json')).devDependencies.node).toBe(version)
  expect(read('Dockerfile')).toContain(`ARG NODE_IMAGE=node:${version}-slim\n`)
  expect(read('.github/workflows/release.yml')).toContain(`inspect node:${version}-slim `)
})
