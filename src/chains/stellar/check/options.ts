import { readSignerKey } from '../encode/set-options.ts'
import type { SetOptionsOperation } from '../model/operation.ts'
import { accountId, type Problem, plainText } from './fields.ts'

/** `string32` of XDR. */
const MAX_HOME_DOMAIN = 32

/** The four bits of `AccountFlags`. */
const ALL_FLAGS = 0xf

/** Checks a `set_options` (stellar-core `SetOptionsOpFrame::doCheckValid`). */
export function checkOptions(operation: SetOptionsOperation, at: string, self: string): Problem {
  const { set_flags = 0, clear_flags = 0, inflation_destination, home_domain, signer } = operation
  if (set_flags > ALL_FLAGS || clear_flags > ALL_FLAGS)
    return `${at}: flags from 0 to ${ALL_FLAGS} are expected.`
  if ((set_flags & clear_flags) !== 0) return `${at}.clear_flags: a flag cannot be set and cleared at once.`
  return (
    (inflation_destination === undefined
      ? undefined
      : accountId(inflation_destination, `${at}.inflation_destination`)) ??
    (home_domain === undefined ? undefined : plainText(home_domain, `${at}.home_domain`, MAX_HOME_DOMAIN)) ??
    (signer === undefined ? undefined : checkSigner(signer, `${at}.signer`, self))
  )
}

function checkSigner({ key }: { readonly key: string }, at: string, self: string): Problem {
  if (readSignerKey(key) === undefined)
    return `${at}.key: a signer's key is expected (G…, T…, X… or P…); its checksum is wrong.`
  return key === self ? `${at}.key: the account's own key is weighed by master_weight.` : undefined
}
