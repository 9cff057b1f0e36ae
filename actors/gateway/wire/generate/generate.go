package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/cmd/protoc-gen-go/internal_gengo"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// prefix is put before the file's name, because no two files of a program may have the same.
const prefix = "turnstile/gateway/"

// Generate gives the Go code of a protobuf file, as protoc with protoc-gen-go does.
func Generate(ctx context.Context, file string) ([]byte, error) {
	name := prefix + filepath.Base(file)
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			Accessor: func(asked string) (io.ReadCloser, error) {
				if asked != name {
					return nil, os.ErrNotExist
				}
				return os.Open(file)
			},
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, name)
	if err != nil {
		return nil, err
	}
	plugin, err := protogen.Options{}.New(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{name},
		Parameter:      proto.String("paths=source_relative"),
		ProtoFile:      []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(files[0])},
	})
	if err != nil {
		return nil, err
	}
	for _, f := range plugin.Files {
		if f.Generate {
			internal_gengo.GenerateFile(plugin, f)
		}
	}
	response := plugin.Response()
	if len(response.File) != 1 {
		return nil, fmt.Errorf("%s: %d files were generated: %s", name, len(response.File), response.GetError())
	}
	return []byte(response.File[0].GetContent()), nil
}
