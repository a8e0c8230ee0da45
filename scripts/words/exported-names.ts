import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { sourceFiles } from '../imports/read-imports.ts'

/** One exported name. `line` counts from 1. */
export interface ExportedName {
  readonly file: string
  readonly line: number
  readonly name: string
}

/** Every name that a TypeScript file under `root` exports, members of exported interfaces included. */
export function exportedNames(root: string): ExportedName[] {
  return sourceFiles(root).flatMap((file) => namesOf(root, file))
}

function namesOf(root: string, file: string): ExportedName[] {
  const text = readFileSync(join(root, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true)
  return source.statements.filter(isExported).flatMap((statement) =>
    declaredNames(statement).map((node) => ({
      file,
      line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1,
      name: node.getText(),
    })),
  )
}

function isExported(statement: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  )
}

function declaredNames(statement: ts.Statement): ts.Node[] {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations.map(({ name }) => name)
  if (ts.isInterfaceDeclaration(statement))
    return [statement.name, ...statement.members.flatMap(({ name }) => (name === undefined ? [] : [name]))]
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
    return statement.name === undefined ? [] : [statement.name]
  return ts.isTypeAliasDeclaration(statement) ? [statement.name] : []
}
