import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/database/db.ts'
import { transact } from '../../src/database/locks/transact.ts'
import {
  decideProposal,
  findProposal,
  finishProposal,
  insertProposal,
  reopenProposal,
} from '../../src/second-person/proposals-store.ts'
import { openNewDatabase } from '../support/database.ts'

const AT = new Date('2026-11-20T10:00:00.000Z')
const APPROVAL = {
  decision: 'unfinished',
  decidedBy: 'person.2',
  decidedAt: AT,
  reason: undefined,
} as const

let database: Database
beforeAll(async () => {
  database = await openNewDatabase()
})
afterAll(() => database.close())

/** Stores a proposal that someone has approved, as it is when the process ends before its change is done. */
async function approved(id: string): Promise<void> {
  const { db } = database
  const proposal = {
    id,
    operation: 'updateApiKey',
    target: `api_key:${id}`,
    input: '{"path":{},"body":{}}',
    shown: {},
    proposedBy: 'person.1',
    createdAt: AT,
    expiresAt: new Date(AT.getTime() + 3_600_000),
  }
  await transact(db, (tx) => insertProposal(tx, proposal))
  expect(await transact(db, (tx) => decideProposal(tx, id, APPROVAL))).toBe(true)
}

test('an approved proposal is unfinished until its change has taken effect, and cannot be decided again', async () => {
  const { db } = database
  await approved('interrupted')
  expect(await findProposal(db, 'interrupted', AT)).toMatchObject({ state: 'unfinished' })
  expect(await transact(db, (tx) => decideProposal(tx, 'interrupted', APPROVAL))).toBe(false)
  await transact(db, (tx) => finishProposal(tx, 'interrupted'))
  expect(await findProposal(db, 'interrupted', AT)).toMatchObject({ state: 'approved', input: '' })
})

test('a proposal whose change was refused waits again, and one whose change took effect never does', async () => {
  const { db } = database
  await approved('refused')
  await transact(db, (tx) => reopenProposal(tx, 'refused'))
  expect(await findProposal(db, 'refused', AT)).toMatchObject({ state: 'waiting' })
  await transact(db, (tx) => decideProposal(tx, 'refused', APPROVAL))
  await transact(db, (tx) => finishProposal(tx, 'refused'))
  await transact(db, (tx) => reopenProposal(tx, 'refused'))
  expect(await findProposal(db, 'refused', AT)).toMatchObject({ state: 'approved' })
})
