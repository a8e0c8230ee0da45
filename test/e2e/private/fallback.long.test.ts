import { afterEach, expect, test } from 'vitest'
import { RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { type PrivateScenario, startPrivateScenario } from './scenario.ts'

const BLOCKS = 5

let story: PrivateScenario

afterEach(() => story.stop())

const diagnosis = async (id: string) => {
  const path = `/relayers/main/transactions/${id}/diagnosis`
  return (await story.service.api<{ findings: { code: string; message: string }[] }>('GET', path)).body.data
    .findings
}

test('a private transaction becomes public after this many blocks, and not before', async () => {
  story = await startPrivateScenario({ policies: { private_fallback_blocks: BLOCKS } })
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  const { hash } = await story.reach(id, 'submitted')
  const [finding] = await diagnosis(id)
  expect(finding?.message).toContain(`From block ${2 + BLOCKS} on`)
  await story.mine(BLOCKS - 2)
  await story.mineAndWatch()
  expect(await story.get(id)).not.toHaveProperty('made_public_at')
  expect(await story.publicCount()).toBe(0)
  await story.mine()
  const opened = await until(
    () => story.get(id),
    (seen) => 'made_public_at' in seen,
  )
  expect(opened).toMatchObject({ private: true, hash, status: 'submitted' })
  await until(
    () => story.publicCount(),
    (count) => count === 1,
  )
  expect(await diagnosis(id)).toMatchObject([{ code: 'made_public' }])
  const { body } = await story.service.api<{ payload: object }[]>('GET', `/events?transaction_id=${id}`)
  expect(body.data.filter(({ payload }) => 'made_public_at' in payload)).toHaveLength(1)
  await story.mine(2)
  expect(await story.reach(id, 'confirmed')).toMatchObject({ hash, private: true })
  expect((await story.get(id)).attempts).toHaveLength(1)
})

test('without the policy a transaction stays private, however many blocks pass', async () => {
  story = await startPrivateScenario()
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  await story.reach(id, 'submitted')
  await story.mine(50)
  await story.mineAndWatch()
  const own = story.endpoint.raws.length
  story.clock.advance(31_000)
  await story.handedOver(own + 1)
  expect(await story.publicCount()).toBe(0)
  expect(await story.get(id)).not.toHaveProperty('made_public_at')
})

test('the blocks are counted from the first broadcast, across a restart', async () => {
  story = await startPrivateScenario({ policies: { private_fallback_blocks: BLOCKS } })
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  await story.reach(id, 'submitted')
  await story.mine(BLOCKS - 1)
  story = await story.restart()
  expect(await story.publicCount()).toBe(0)
  await story.mine()
  await until(
    () => story.publicCount(),
    (count) => count === 1,
  )
  expect(await story.get(id)).toHaveProperty('made_public_at')
})

test('a replacement of a transaction that was made public goes everywhere, and no later nonce is touched', async () => {
  story = await startPrivateScenario({ policies: { private_fallback_blocks: 1 } })
  const { id } = await story.send({ to: RECEIVER, value: 1 })
  await story.reach(id, 'submitted')
  await story.mine()
  await until(
    () => story.publicCount(),
    (count) => count === 1,
  )
  const before = story.endpoint.raws.length
  const { body } = await story.replace(id, { to: RECEIVER, value: 2, speed: 'fast' })
  await story.handedOver(before + 1)
  expect(JSON.stringify(await story.anvil.rpc('txpool_content'))).toContain(body.data.hash)
  await story.mine(2)
  expect(await story.reach(id, 'confirmed')).toMatchObject({ value: '2' })
})
