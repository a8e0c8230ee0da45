import { expect, test } from 'vitest'
import { loadContract } from '../../../src/contract/document.ts'
import { playOnEvm } from './evm-stories.ts'
import { playFailures, playWithoutDatabase, playWithoutScopes } from './failure-stories.ts'
import { Heard } from './heard.ts'
import { playCreatedKeys } from './key-stories.ts'
import { playPlugins } from './plugin-stories.ts'
import { playSchedules } from './schedule-stories.ts'
import { exampleSentences } from './sentences.ts'
import { playOnSolana } from './solana-stories.ts'
import { playOnStellar } from './stellar-stories.ts'

/** An example with a new sentence fails this test until one of these stories makes the service say it. */
const STORIES = [
  playFailures,
  playWithoutScopes,
  playWithoutDatabase,
  playOnEvm,
  playOnStellar,
  playOnSolana,
  playPlugins,
  playCreatedKeys,
  playSchedules,
]

test('the service says every sentence that an example of openapi.yaml has', async () => {
  const examples = exampleSentences(await loadContract())
  const heard = new Heard()
  for (const play of STORIES) await play(heard)
  const unsaid = examples.filter(({ sentence }) => !heard.sentences.has(sentence))
  expect(unsaid).toEqual([])
  expect(examples.length).toBeGreaterThan(30)
}, 180_000)
