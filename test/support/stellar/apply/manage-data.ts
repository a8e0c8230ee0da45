import { xdr } from '@stellar/stellar-sdk'
import { dataKey } from '../entries.ts'
import { countEntry } from './balances.ts'
import type { Rule } from './rule.ts'

/** The characters of a name or a domain (stellar-core `isStringValid`): ASCII without control characters. */
export const PRINTABLE_ASCII = /^[\x20-\x7e]*$/

/** stellar-core ManageDataOpFrame.cpp. */
export const manageData: Rule<'manageData'> = {
  level: () => 'medium',
  check({ manageDataOp: { dataName } }) {
    const name = dataName.toString()
    return name === '' || !PRINTABLE_ASCII.test(name) ? result('manageDataInvalidName') : undefined
  },
  apply({ manageDataOp: { dataName, dataValue } }, { changes, network, source }) {
    const name = dataName.toString()
    const known = changes.get(dataKey(source, name))
    if (!dataValue) {
      if (!known) return result('manageDataNameNotFound')
      countEntry(changes, network, source, -1)
      changes.remove(dataKey(source, name))
      return result('manageDataSuccess')
    }
    const problem = known ? undefined : countEntry(changes, network, source, 1)
    if (problem === 'tooMany') return xdr.OperationResult.opTooManySubentries()
    if (problem) return result('manageDataLowReserve')
    changes.set({ kind: 'data', account: source, name, value: dataValue.toBytes() })
    return result('manageDataSuccess')
  },
}

function result(code: xdr.ManageDataResultVariantName): xdr.OperationResult {
  return xdr.OperationResult.opInner(xdr.OperationResultTr.manageData(xdr.ManageDataResult[code]()))
}
