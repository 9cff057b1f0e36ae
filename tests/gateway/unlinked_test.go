package gateway

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// unlinked is a message of a type that no program has registered.
func unlinked() proto.Message {
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("nobody/knows.proto"), Package: proto.String("nobody"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Knows")}},
	}, nil)
	if err != nil {
		panic(err)
	}
	return dynamicpb.NewMessage(file.Messages().Get(0))
}
