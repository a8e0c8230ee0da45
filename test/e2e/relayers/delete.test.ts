import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { type Answer, RECEIVER, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { create, createFunded, onAnvil, type Relayer, refusalOf, signersWith } from './site.ts'

let story: Scenario

beforeAll(async () => {
  story = await startScenario({ ...signersWith('a', 'b', 'c') })
})
afterAll(() => story.stop())

const remove = (id: string) => story.service.api<string>('DELETE', `/relayers/${id}`)
const send = (id: string) =>
  story.service.api('POST', `/relayers/${id}/transactions`, { to: RECEIVER, value: 1 })
const listOf = async (id: string) =>
  (await story.service.api<Transaction[]>('GET', `/relayers/${id}/transactions?per_page=100`)).body.data
const settled = (id: string) =>
  until(
    async () => {
      await story.mine()
      return listOf(id)
    },
    (all) => all.every(({ status }) => ['confirmed', 'canceled'].includes(status)),
  )

describe('deleting a relayer', () => {
  test('is refused while a transaction is not final', async () => {
    await createFunded(story.service, story.anvil, onAnvil('a', { id: 'one' }))
    const first = await send('one')
    expect(refusalOf(await remove('one'))).toEqual({
      status: 400,
      code: 'relayer_has_transactions',
      error:
        'Relayer one has 1 transaction that is not final. Pause it, cancel them or wait until they are, then delete it.',
    })
    await send('one')
    expect((await remove('one')).body.error).toContain('has 2 transactions that are not final')
    const path = `/relayers/one/transactions/${first.body.data.id}`
    await until(
      async () => (await story.service.api('GET', path)).body.data,
      ({ status }) => status === 'submitted',
    )
    await story.mine()
    await until(
      async () => (await story.service.api('GET', path)).body.data,
      ({ status }) => status === 'mined',
    )
    expect((await remove('one')).body.code).toBe('relayer_has_transactions')
    expect((await story.service.api('GET', '/relayers/one')).status).toBe(200)
    await settled('one')
  })

  test('takes it off everything, and gives its account free', async () => {
    const answer = await remove('one')
    expect([answer.status, answer.body.data]).toEqual([200, 'Relayer deleted successfully'])
    const { body } = await story.service.api<Relayer[]>('GET', '/relayers?per_page=100')
    expect(body.data.map(({ id }) => id)).not.toContain('one')
    for (const [method, path] of [
      ['GET', '/relayers/one'],
      ['PATCH', '/relayers/one'],
      ['DELETE', '/relayers/one'],
      ['GET', '/relayers/one/status'],
      ['GET', '/relayers/one/balance'],
      ['GET', '/relayers/one/transactions'],
    ] as const) {
      const gone = await story.service.api(method, path, method === 'PATCH' ? {} : undefined)
      expect([path, gone.status, gone.body.code]).toEqual([path, 404, 'relayer_not_found'])
    }
    expect((await send('one')).body.code).toBe('relayer_not_found')
    const heir = await create(story.service, onAnvil('a', { id: 'heir' }))
    expect(heir.status).toBe(201)
    expect((await send('heir')).status).toBe(200)
    await settled('heir')
    expect((await remove('heir')).status).toBe(200)
  })

  test('is not permanent: a relayer that is created again has its history and goes on', async () => {
    expect((await create(story.service, onAnvil('a', { id: 'one', name: 'Again' }))).status).toBe(201)
    expect(await listOf('one')).toHaveLength(2)
    const sent = await send('one')
    const after = await settled('one')
    // Two of its own before, one of the heir in between.
    expect(after.find(({ id }) => id === sent.body.data.id)).toMatchObject({ nonce: 3, status: 'confirmed' })
  })

  test('lets a relayer of the same id with another account begin with nonce 0', async () => {
    expect((await remove('one')).status).toBe(200)
    const relayer = await createFunded(story.service, story.anvil, onAnvil('b', { id: 'one' }))
    const sent = await send('one')
    const after = await settled('one')
    expect(after.find(({ id }) => id === sent.body.data.id)).toMatchObject({
      nonce: 0,
      from: relayer.address,
    })
  })

  test('leaves the id of a relayer of the file to callers', async () => {
    expect((await remove('other')).status).toBe(200)
    const { status, body } = await create(story.service, onAnvil('c', { id: 'other' }))
    expect([status, body.data?.signer_id]).toEqual([201, 'c'])
    expect((await remove('other')).status).toBe(200)
  })
})

test('what is accepted while a relayer is being deleted holds it; what comes later is refused', async () => {
  for (let round = 0; round < 10; round += 1) {
    await createFunded(story.service, story.anvil, onAnvil('c', { id: 'race' }))
    const requests = Array.from({ length: 4 }, () => () => send('race') as Promise<Answer>)
    const at = round % (requests.length + 1)
    requests.splice(at, 0, () => remove('race'))
    const answers = await Promise.all(requests.map((request) => request()))
    const [deleted] = answers.splice(at, 1)
    const accepted = answers.filter(({ status }) => status === 200).length
    if (deleted?.status === 200) {
      expect(accepted).toBe(0)
      expect(answers.map(({ body }) => body.code)).toEqual(Array(4).fill('relayer_not_found'))
      continue
    }
    expect(deleted?.body.code).toBe('relayer_has_transactions')
    expect(accepted).toBe(4)
    await settled('race')
    expect((await remove('race')).status).toBe(200)
  }
}, 90_000)
