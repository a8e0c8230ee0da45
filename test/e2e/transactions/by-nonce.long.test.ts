import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER } from '../../support/service.ts'
import { startStellarScenario } from '../../support/stellar-scenario.ts'

let story: Scenario

beforeAll(async () => {
  story = await startScenario()
})
afterAll(() => story.stop())

const byNonce = (nonce: string | number | bigint, relayer = 'main') =>
  story.service.api('GET', `/relayers/${relayer}/transactions/by-nonce/${nonce}`)

describe('a transaction by its nonce', () => {
  test('is the same answer as by its id, while it waits and when it is final', async () => {
    const { id } = await story.send({ to: RECEIVER, value: 1 })
    const { nonce = -1n } = await story.reach(id, 'submitted')
    const waiting = await byNonce(nonce)
    expect({ status: waiting.status, data: waiting.body.data }).toEqual({
      status: 200,
      data: await story.get(id),
    })
    await story.settle()
    expect((await byNonce(nonce)).body.data).toMatchObject({ id, status: 'confirmed' })
  })

  test.each([
    ['one that was not given yet', '100', 'main', 'transaction_not_found'],
    ['one that another relayer has given', '0', 'other', 'transaction_not_found'],
    ['the largest one', '9223372036854775807', 'main', 'transaction_not_found'],
    ['one of an unknown relayer', '0', 'nobody', 'relayer_not_found'],
  ])('is a 404 for %s', async (_name, nonce, relayer, code) => {
    const { status, body } = await byNonce(nonce, relayer)
    expect({ status, code: body.code }).toEqual({ status: 404, code })
  })

  test.each(['abc', '-1', '1.5', '0x1', '01', '1e3', '%20', '9223372036854775808'])(
    '%s is no nonce: 400 that names it',
    async (nonce) => {
      const { status, body } = await byNonce(nonce)
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' })
      expect(body.error).toContain('path.nonce')
    },
  )
})

test('what a relayer without nonces is asked by nonce is refused', async () => {
  const stellar = await startStellarScenario()
  try {
    const { status, body } = await stellar.service.api('GET', '/relayers/main/transactions/by-nonce/1')
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'not_supported' })
  } finally {
    await stellar.stop()
  }
})

test('the slash at the end of the path of sending is ignored', async () => {
  const { status, body } = await story.service.api('POST', '/relayers/main/transactions/', {
    to: RECEIVER,
    value: 1,
  })
  expect(status).toBe(200)
  await story.settle()
  expect((await story.get(body.data.id)).status).toBe('confirmed')
})
