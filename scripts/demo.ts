/**
 * `npm run demo`: the main job on a real chain, told step by step. `-- --keep` leaves everything running afterwards, and
 * `-- --program FILE` tells it with an installed program, such as `node_modules/multichain-relayer/dist/main.js`, instead of the source.
 * Uses only what a caller has: HTTP, the token, and the node's own JSON-RPC to look over the service's shoulder.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keepRunning } from './demo/keep.ts'
import { say } from './demo/say.ts'
import { type Stage, setUp } from './demo/stage.ts'
import { tellTheStory } from './demo/story.ts'
import { readOptions } from './read-options.ts'

const { values } = readOptions({
  options: { keep: { type: 'boolean', default: false }, program: { type: 'string' } },
})

const folder = await mkdtemp(join(tmpdir(), 'relayer-demo-'))
let stage: Stage | undefined
try {
  stage = await setUp(folder, values.program)
  await tellTheStory(stage)
  if (values.keep) await keepRunning(stage)
} catch (error) {
  say.failure(error)
  process.exitCode = 1
} finally {
  await stage?.tearDown()
  await rm(folder, { recursive: true, force: true })
}
