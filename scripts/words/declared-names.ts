import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { sourceFiles } from '../imports/read-imports.ts'

/** One declared name. `line` counts from 1. */
export interface DeclaredName {
  readonly file: string
  readonly line: number
  readonly name: string
}

/** Every name that a TypeScript file under `root` declares: of types and their members, functions and their parameters, and variables. */
export function declaredNames(root: string): DeclaredName[] {
  return sourceFiles(root).flatMap((file) => namesOf(root, file))
}

function namesOf(root: string, file: string): DeclaredName[] {
  const source = ts.createSourceFile(
    file,
    readFileSync(join(root, file), 'utf8'),
    ts.ScriptTarget.ESNext,
    true,
  )
  const found: DeclaredName[] = []
  const visit = (node: ts.Node): void => {
    const name = nameOf(node)
    if (name !== undefined) {
      const line = source.getLineAndCharacterOfPosition(name.getStart()).line + 1
      found.push({ file, line, name: name.getText() })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** Returns the name that a node declares. Imports and fields of object literals repeat the names of others. */
function nameOf(node: ts.Node): ts.Node | undefined {
  if (
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodSignature(node) ||
    ts.isMethodDeclaration(node)
  )
    return node.name !== undefined && ts.isIdentifier(node.name) ? node.name : undefined
  return undefined
}
