import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../database/schema.ts'
import type { SignerDescription } from '../providers/describe.ts'
import { decodePublicKeys } from './public-keys.ts'
import type { PublicKeys } from './remote-key.ts'

/** Reads the public keys that a signer of the file had at an earlier start. A signer with another configuration since then has none. */
export async function findRemembered(
  db: Db,
  { id, type, config }: SignerDescription,
): Promise<PublicKeys | undefined> {
  const row = await db
    .selectFrom('signers')
    .select(['type', 'config', 'public_keys'])
    .where('id', '=', id)
    .where('sealed', 'is', null)
    .executeTakeFirst()
  if (!row?.public_keys || row.type !== type || !isDeepStrictEqual(row.config, config)) return undefined
  return decodePublicKeys(row.public_keys)
}
